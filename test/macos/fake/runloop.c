#include "foundation.h"
#include "record.h"
#include "world.h"

#include <stdlib.h>

#define MAX_ENTRIES 64
#define SLICE_MS 2.0

typedef struct {
  struct { Object *source; bool default_mode; Object *mode; } entries[MAX_ENTRIES];
  int count;
  bool stopped;
} LoopState;

API Ref kCFRunLoopDefaultMode, kCFRunLoopCommonModes;

static Object *main_loop;
static _Thread_local Object *own_loop;

static Object *loop_new(void) {
  Object *loop = object_new(RUN_LOOP, false);
  loop->as.extra.state = calloc(1, sizeof(LoopState));
  return object_constant(loop);
}

static Object *current(void) {
  if (on_main_thread()) return main_loop;
  if (!own_loop) own_loop = loop_new();
  return own_loop;
}

Object *source_new(Object *owner, bool (*fire)(Object *owner)) {
  Object *source = object_new(SOURCE, false);
  SourceState *state = calloc(1, sizeof *state);
  *state = (SourceState){fire, owner, true};
  source->as.extra.state = state;
  return source;
}

static void source_finalize(Object *source) { free(source->as.extra.state); }

void run_loop_init(void) {
  traits[RUN_LOOP] = (Traits){"CFRunLoop", 53, "NSObject", NULL, NULL, NULL, NULL};
  traits[SOURCE] = (Traits){"CFRunLoopSource", 54, "NSObject", source_finalize, NULL, NULL, NULL};
  main_loop = loop_new();
  kCFRunLoopDefaultMode = string_constant("kCFRunLoopDefaultMode");
  kCFRunLoopCommonModes = string_constant("kCFRunLoopCommonModes");
}

API Ref CFRunLoopGetCurrent(void) {
  ENTER;
  return ref_of(current());
}

API Ref CFRunLoopGetMain(void) {
  ENTER;
  return ref_of(main_loop);
}

static int entry_of(LoopState *state, const Object *source, const Object *mode) {
  for (int i = 0; i < state->count; i++)
    if (state->entries[i].source == source && objects_equal(state->entries[i].mode, mode)) return i;
  return -1;
}

API void CFRunLoopAddSource(Ref loop_ref, Ref source_ref, Ref mode_ref) {
  ENTER;
  Object *loop = use(loop_ref, RUN_LOOP, "rl"), *source = use(source_ref, SOURCE, "source"), *mode = use(mode_ref, STRING, "mode");
  if (!loop || !source || !mode) return;
  LoopState *state = loop->as.extra.state;
  if (entry_of(state, source, mode) >= 0 || state->count == MAX_ENTRIES) return;
  state->entries[state->count].source = object_hold(source);
  state->entries[state->count].mode = object_hold(mode);
  state->count++;
}

API void CFRunLoopRemoveSource(Ref loop_ref, Ref source_ref, Ref mode_ref) {
  ENTER;
  Object *loop = use(loop_ref, RUN_LOOP, "rl"), *source = use(source_ref, SOURCE, "source"), *mode = use(mode_ref, STRING, "mode");
  if (!loop || !source || !mode) return;
  LoopState *state = loop->as.extra.state;
  int at = entry_of(state, source, mode);
  if (at < 0) return;
  object_drop(state->entries[at].source);
  object_drop(state->entries[at].mode);
  state->entries[at] = state->entries[--state->count];
}

API void CFRunLoopStop(Ref ref) {
  ENTER;
  Object *loop = use(ref, RUN_LOOP, "rl");
  if (loop) ((LoopState *)loop->as.extra.state)->stopped = true;
}

API void CFRunLoopWakeUp(Ref ref) {
  ENTER;
  use(ref, RUN_LOOP, "rl");
}

static bool in_mode(const Object *entry_mode, const Object *mode) {
  bool common = string_is(entry_mode, "kCFRunLoopCommonModes") && string_is(mode, "kCFRunLoopDefaultMode");
  return common || objects_equal(entry_mode, mode);
}

API int32_t CFRunLoopRunInMode(Ref mode_ref, double seconds, Boolean return_after_source) {
  ENTER;
  Object *mode = use(mode_ref, STRING, "mode");
  if (!mode) return kCFRunLoopRunFinished;
  LoopState *state = current()->as.extra.state;
  double end = now_ms() + seconds * 1e3;
  bool handled = false;
  state->stopped = false;
  for (;;) {
    int sources = 0;
    world_turn();
    world_refresh_workspace();
    for (int i = 0; i < state->count; i++) {
      SourceState *source = state->entries[i].source->as.extra.state;
      if (!in_mode(state->entries[i].mode, mode) || !source->valid) continue;
      sources++;
      while (source->valid && source->fire(source->owner)) {
        handled = true;
        if (return_after_source) return kCFRunLoopRunHandledSource;
      }
    }
    if (state->stopped) return kCFRunLoopRunStopped;
    if (!sources) return kCFRunLoopRunFinished;
    double left = end - now_ms();
    if (left <= 0) return handled && seconds <= 0 ? kCFRunLoopRunHandledSource : kCFRunLoopRunTimedOut;
    sleep_us((left < SLICE_MS ? left : SLICE_MS) * 1e3);
  }
}

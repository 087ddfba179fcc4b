/* CGEvent: creates, changes, posts and records events. Their effects on the scene are in input.c. */
#include "events.h"
#include "foundation.h"
#include "keyboard.h"
#include "record.h"
#include "trip.h"
#include "world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNICODE 20 /* the window server keeps no more of an event's text */
#define FIELDS 128

typedef struct {
  uint32_t type;
  CGPoint at;
  uint64_t flags;
  int64_t integers[FIELDS];
  double reals[FIELDS];
  uint16_t text[MAX_UNICODE];
  int text_length;
  bool text_given;
  bool in_pixels;
} EventState;

typedef struct {
  int32_t state;
  uint32_t keyboard;
  double suppression;
} EventSourceState;

static void state_finalize(Object *object) { free(object->as.extra.state); }

void events_init(void) {
  traits[EVENT] = (Traits){"CGEvent", 330, "NSObject", state_finalize, NULL, NULL, NULL};
  traits[EVENT_SOURCE] = (Traits){"CGEventSource", 331, "NSObject", state_finalize, NULL, NULL, NULL};
  traits[MACH_PORT] = (Traits){"CFMachPort", 56, "NSObject", NULL, NULL, NULL, NULL};
}

unsigned modifier_flag(int key) {
  switch (key) {
    case 54:
    case 55: return FLAG_COMMAND;
    case 56:
    case 60: return FLAG_SHIFT;
    case 57: return FLAG_CAPS;
    case 58:
    case 61: return FLAG_OPTION;
    case 59:
    case 62: return FLAG_CONTROL;
    case 63: return FLAG_FN;
    default: return 0;
  }
}

/* Sources */

API Ref CGEventSourceCreate(int32_t state_id) {
  ENTER;
  if (state_id < -1 || state_id > 1) return NULL;
  Object *source = object_new(EVENT_SOURCE, false);
  EventSourceState *state = calloc(1, sizeof *state);
  *state = (EventSourceState){state_id, 40, 0.25};
  source->as.extra.state = state;
  return ref_of(source);
}

API uint32_t CGEventSourceGetKeyboardType(Ref ref) {
  ENTER;
  Object *source = use(ref, EVENT_SOURCE, "source");
  return source ? ((EventSourceState *)source->as.extra.state)->keyboard : 0;
}

API void CGEventSourceSetKeyboardType(Ref ref, uint32_t type) {
  ENTER;
  Object *source = use(ref, EVENT_SOURCE, "source");
  if (source) ((EventSourceState *)source->as.extra.state)->keyboard = type;
}

API void CGEventSourceSetLocalEventsSuppressionInterval(Ref ref, double seconds) {
  ENTER;
  Object *source = use(ref, EVENT_SOURCE, "source");
  if (source) ((EventSourceState *)source->as.extra.state)->suppression = seconds;
}

API bool CGEventSourceKeyState(int32_t state, uint16_t key) {
  ENTER;
  (void)state;
  world_turn();
  return key < 256 && scene.keys[key];
}

API bool CGEventSourceButtonState(int32_t state, uint32_t button) {
  ENTER;
  (void)state;
  world_turn();
  return button < 32 && scene.buttons[button];
}

API uint64_t CGEventSourceFlagsState(int32_t state) {
  ENTER;
  (void)state;
  world_turn();
  return scene.flags;
}

/* Making events */

/** An event gets the modifiers that are down, unless its source is private. */
static Object *event_new(Ref source_ref, uint32_t type, bool *ok) {
  Object *source = source_ref ? use(source_ref, EVENT_SOURCE, "source") : NULL;
  *ok = !source_ref || source;
  Object *event = object_new(EVENT, false);
  EventState *state = calloc(1, sizeof *state);
  bool private = source && ((EventSourceState *)source->as.extra.state)->state == -1;
  world_turn();
  state->type = type;
  state->at = scene.cursor;
  state->flags = private ? 0 : scene.flags;
  event->as.extra.state = state;
  return event;
}

static EventState *state_of(Ref ref) {
  Object *event = use(ref, EVENT, "event");
  return event ? event->as.extra.state : NULL;
}

API CFTypeID CGEventGetTypeID(void) { return traits[EVENT].type; }

API Ref CGEventCreate(Ref source) {
  ENTER;
  bool ok;
  return ref_of(event_new(source, 0, &ok));
}

API Ref CGEventCreateCopy(Ref ref) {
  ENTER;
  EventState *state = state_of(ref);
  if (!state) return NULL;
  Object *copy = object_new(EVENT, false);
  copy->as.extra.state = malloc(sizeof *state);
  memcpy(copy->as.extra.state, state, sizeof *state);
  return ref_of(copy);
}

API Ref CGEventCreateKeyboardEvent(Ref source, uint16_t key, bool down) {
  ENTER;
  bool ok;
  unsigned flag = modifier_flag(key);
  Object *event = event_new(source, flag ? FLAGS_CHANGED : down ? KEY_DOWN : KEY_UP, &ok);
  EventState *state = event->as.extra.state;
  state->integers[FIELD_KEY] = key;
  if (flag && down) state->flags |= flag;
  else if (flag) state->flags &= ~(uint64_t)flag;
  return ref_of(event);
}

API Ref CGEventCreateMouseEvent(Ref source, uint32_t type, CGPoint at, uint32_t button) {
  ENTER;
  bool ok;
  Object *event = event_new(source, type, &ok);
  EventState *state = event->as.extra.state;
  state->at = at;
  state->integers[FIELD_BUTTON] = type == LEFT_DOWN || type == LEFT_UP || type == LEFT_DRAGGED ? 0
                                  : type == RIGHT_DOWN || type == RIGHT_UP || type == RIGHT_DRAGGED ? 1 : button;
  state->integers[FIELD_CLICKS] = type == MOUSE_MOVED ? 0 : 1;
  return ref_of(event);
}

static Ref wheel(Ref source, uint32_t unit, uint32_t count, int32_t y, int32_t x) {
  bool ok;
  Object *event = event_new(source, SCROLL_WHEEL, &ok);
  EventState *state = event->as.extra.state;
  state->in_pixels = unit == 0;
  state->integers[FIELD_SCROLL_Y] = y;
  state->integers[FIELD_SCROLL_X] = count > 1 ? x : 0;
  return ref_of(event);
}

API Ref CGEventCreateScrollWheelEvent2(Ref source, uint32_t unit, uint32_t count, int32_t first, int32_t second, int32_t third) {
  ENTER;
  (void)third;
  return wheel(source, unit, count, first, second);
}

API Ref CGEventCreateScrollWheelEvent(Ref source, uint32_t unit, uint32_t count, int32_t first, ...) {
  ENTER;
  if (count > 1) breach("variadic", "more than one wheel cannot be passed through a foreign function interface");
  return wheel(source, unit, 1, first, 0);
}

/* Reading and changing events */

API uint32_t CGEventGetType(Ref ref) {
  ENTER;
  EventState *state = state_of(ref);
  return state ? state->type : 0;
}

API void CGEventSetType(Ref ref, uint32_t type) {
  ENTER;
  EventState *state = state_of(ref);
  if (state) state->type = type;
}

API uint64_t CGEventGetFlags(Ref ref) {
  ENTER;
  EventState *state = state_of(ref);
  return state ? state->flags : 0;
}

API void CGEventSetFlags(Ref ref, uint64_t flags) {
  ENTER;
  EventState *state = state_of(ref);
  if (state) state->flags = flags;
}

API CGPoint CGEventGetLocation(Ref ref) {
  ENTER;
  EventState *state = state_of(ref);
  return state ? state->at : (CGPoint){0, 0};
}

API CGPoint CGEventGetUnflippedLocation(Ref ref) {
  ENTER;
  EventState *state = state_of(ref);
  Json *displays = json_get(scene.json, "displays"), *bounds = displays && displays->first ? json_get(displays->first, "bounds") : NULL;
  return state ? (CGPoint){state->at.x, (bounds ? json_at(bounds, 3) : 900) - state->at.y} : (CGPoint){0, 0};
}

API void CGEventSetLocation(Ref ref, CGPoint at) {
  ENTER;
  EventState *state = state_of(ref);
  if (state) state->at = at;
}

API void CGEventSetSource(Ref ref, Ref source) {
  ENTER;
  state_of(ref);
  if (source) use(source, EVENT_SOURCE, "source");
}

API void CGEventSetTimestamp(Ref ref, uint64_t time) {
  ENTER;
  (void)time;
  state_of(ref);
}

API int64_t CGEventGetIntegerValueField(Ref ref, uint32_t field) {
  ENTER;
  EventState *state = state_of(ref);
  return state && field < FIELDS ? state->integers[field] : 0;
}

API void CGEventSetIntegerValueField(Ref ref, uint32_t field, int64_t value) {
  ENTER;
  EventState *state = state_of(ref);
  if (state && field < FIELDS) state->integers[field] = value;
}

API double CGEventGetDoubleValueField(Ref ref, uint32_t field) {
  ENTER;
  EventState *state = state_of(ref);
  if (!state || field >= FIELDS) return 0;
  return state->reals[field] != 0 ? state->reals[field] : (double)state->integers[field];
}

API void CGEventSetDoubleValueField(Ref ref, uint32_t field, double value) {
  ENTER;
  EventState *state = state_of(ref);
  if (!state || field >= FIELDS) return;
  state->reals[field] = value;
  state->integers[field] = (int64_t)value;
}

API void CGEventKeyboardSetUnicodeString(Ref ref, unsigned long length, const UniChar *units) {
  ENTER;
  EventState *state = state_of(ref);
  if (!state) return;
  if (length && !units) {
    breach("null", "unicodeString is NULL");
    return;
  }
  if (length > MAX_UNICODE) note("truncated", "%lu units of text, of which %d are kept", length, MAX_UNICODE);
  state->text_length = length > MAX_UNICODE ? MAX_UNICODE : (int)length;
  state->text_given = true;
  memcpy(state->text, units, (size_t)state->text_length * sizeof *units);
}

API void CGEventKeyboardGetUnicodeString(Ref ref, unsigned long most, unsigned long *length, UniChar *units) {
  ENTER;
  EventState *state = state_of(ref);
  unsigned long count = state ? (unsigned long)state->text_length : 0;
  if (length) *length = count;
  for (unsigned long i = 0; units && i < count && i < most; i++) units[i] = state->text[i];
}

/* Posting */

static const char *type_name(uint32_t type) {
  static const char *const names[] = {
      [LEFT_DOWN] = "left_down", [LEFT_UP] = "left_up", [RIGHT_DOWN] = "right_down", [RIGHT_UP] = "right_up",
      [MOUSE_MOVED] = "mouse_moved", [LEFT_DRAGGED] = "left_dragged", [RIGHT_DRAGGED] = "right_dragged",
      [KEY_DOWN] = "key_down", [KEY_UP] = "key_up", [FLAGS_CHANGED] = "flags_changed", [SCROLL_WHEEL] = "scroll",
      [OTHER_DOWN] = "other_down", [OTHER_UP] = "other_up", [OTHER_DRAGGED] = "other_dragged",
  };
  return type < sizeof names / sizeof *names && names[type] ? names[type] : "none";
}

/** The text of a key event without a text of its own, derived from the scene's layout like the real function does. */
static char *text_of(const EventState *state) {
  if (state->text_given) return utf8_from_utf16(state->text, (size_t)state->text_length, 0);
  bool dead;
  int level = (state->flags & FLAG_SHIFT ? SHIFT_DOWN : 0) | (state->flags & FLAG_OPTION ? OPTION_DOWN : 0);
  const char *text = layout_key(layout_named(layout_current()), (int)state->integers[FIELD_KEY], level, &dead);
  return strdup(dead ? "" : text);
}

/* Events that the window server has not handled yet (`event_ms` of the scene). Lost if the sender ends first. */
typedef struct Pending {
  Json *event;
  uint32_t type;
  double due;
  struct Pending *next;
} Pending;

static Pending *pending;
static uint32_t handled[32];

static void handle(Json *event, uint32_t type) {
  if (type < 32) handled[type]++;
  world_do(event);
}

void events_turn(void) {
  while (pending && pending->due <= now_ms()) {
    Pending *first = pending;
    pending = first->next;
    handle(first->event, first->type);
    free(first);
  }
}

void events_forget(void) {
  while (pending) {
    Pending *first = pending;
    pending = first->next;
    json_free(first->event);
    free(first);
  }
}

static void handle_later(Json *event, uint32_t type, double ms) {
  Pending **last = &pending, *one = calloc(1, sizeof *one);
  while (*last) last = &(*last)->next;
  /* Events are handled one after the other. */
  *one = (Pending){event, type, now_ms() + ms, NULL};
  *last = one;
}

API uint32_t CGEventSourceCounterForEventType(int32_t state, uint32_t type) {
  ENTER;
  (void)state;
  events_turn();
  return type < 32 ? handled[type] : 0;
}

static void post(Ref ref, int pid, const char *via) {
  EventState *state = state_of(ref);
  if (!state) return;
  events_turn();
  uint32_t type = state->type;
  bool keyboard = state->type == KEY_DOWN || state->type == KEY_UP || state->type == FLAGS_CHANGED;
  Json *event = effect_new("event", NULL);
  json_set(event, "type", json_new_number(state->type));
  json_set(event, "name", json_new_string(type_name(state->type)));
  json_set(event, "flags", json_new_number((double)(state->flags & (FLAG_ANY | FLAG_FN))));
  if (pid) json_set(event, "pid", json_new_number(pid));
  if (keyboard) {
    char *text = text_of(state);
    json_set(event, "key", json_new_number((double)state->integers[FIELD_KEY]));
    if (state->type != FLAGS_CHANGED) json_set(event, "text", json_new_string(text));
    if (state->text_given) json_set(event, "own_text", json_new(J_TRUE));
    free(text);
  } else {
    json_set(event, "x", json_new_number(state->at.x));
    json_set(event, "y", json_new_number(state->at.y));
  }
  if (state->type == SCROLL_WHEEL) {
    json_set(event, "dx", json_new_number((double)state->integers[FIELD_SCROLL_X]));
    json_set(event, "dy", json_new_number((double)state->integers[FIELD_SCROLL_Y]));
    json_set(event, "unit", json_new_string(state->in_pixels ? "pixel" : "line"));
  } else if (!keyboard) {
    json_set(event, "button", json_new_number((double)state->integers[FIELD_BUTTON]));
    json_set(event, "clicks", json_new_number((double)state->integers[FIELD_CLICKS]));
  }
  bool allowed = trusted("post") && trusted("accessibility");
  Text line = record_open("post");
  text_printf(&line, ",\"via\":\"%s\",\"delivered\":%s,\"event\":", via, allowed ? "true" : "false");
  json_print(&line, event);
  record_close(&line);
  double ms = json_number(scene.json, "event_ms", 0);
  if (!allowed) json_free(event); /* without the grant the window server drops it without a word */
  else if (ms > 0) handle_later(event, type, ms);
  else handle(event, type);
}

API void CGEventPost(uint32_t tap, Ref ref) {
  ENTER;
  (void)tap;
  post(ref, 0, "CGEventPost");
}

API void CGEventPostToPid(pid_t pid, Ref ref) {
  ENTER;
  post(ref, pid, "CGEventPostToPid");
}

API void CGEventPostToPSN(const uint32_t *process, Ref ref) {
  ENTER;
  if (!process) breach("null", "processSerialNumber is NULL");
  else post(ref, (int)process[1], "CGEventPostToPSN");
}

/* The cursor */

static CGError warp(CGPoint to) {
  Json *effect = effect_new("cursor", NULL), *pair = json_set(effect, "to", json_new(J_ARRAY));
  json_push(pair, json_new_number(to.x));
  json_push(pair, json_new_number(to.y));
  Text line = record_open("warp");
  text_printf(&line, ",\"x\":%g,\"y\":%g", to.x, to.y);
  record_close(&line);
  world_do(effect);
  return 0;
}

API CGError CGWarpMouseCursorPosition(CGPoint to) {
  ENTER;
  return warp(to);
}

API CGError CGDisplayMoveCursorToPoint(uint32_t display, CGPoint to) {
  ENTER;
  (void)display;
  return warp(to);
}

API CGError CGAssociateMouseAndMouseCursorPosition(int32_t connected) {
  ENTER;
  (void)connected;
  return 0;
}

/* Taps fail, as in a process without the permission to listen. */

API Ref CGEventTapCreate(uint32_t tap, uint32_t place, uint32_t options, uint64_t mask, void *callback, void *context) {
  ENTER;
  (void)tap, (void)place, (void)options, (void)mask, (void)callback, (void)context;
  return NULL;
}

API Ref CGEventTapCreateForPid(pid_t pid, uint32_t place, uint32_t options, uint64_t mask, void *callback, void *context) {
  ENTER;
  (void)pid, (void)place, (void)options, (void)mask, (void)callback, (void)context;
  return NULL;
}

API void CGEventTapEnable(Ref ref, bool enable) {
  ENTER;
  (void)enable;
  use(ref, MACH_PORT, "tap");
}

/** Keys and buttons that are still down. */
void held_print(Text *text) {
  const char *separator = "";
  text_add(text, "[");
  for (int key = 0; key < 256; key++) {
    if (!scene.keys[key]) continue;
    text_printf(text, "%s\"key %d\"", separator, key);
    separator = ",";
  }
  for (int button = 0; button < 32; button++) {
    if (!scene.buttons[button]) continue;
    text_printf(text, "%s\"button %d\"", separator, button);
    separator = ",";
  }
  text_add(text, "]");
}

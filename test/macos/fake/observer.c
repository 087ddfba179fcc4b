#include "record.h"
#include "trip.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

typedef struct Registration Registration;
struct Registration {
  Object *element, *notification;
  void *context;
  Registration *next;
};

typedef struct News News;
struct News {
  Object *element, *notification;
  void *context;
  News *next;
};

typedef struct {
  int pid;
  bool with_info;
  void (*callback)(Ref observer, Ref element, Ref notification, void *context);
  void (*callback_with_info)(Ref observer, Ref element, Ref notification, Ref info, void *context);
  Registration *registrations;
  News *queue;
  Object *source;
} ObserverState;

#define MAX_OBSERVERS 256
static Object *observers[MAX_OBSERVERS];
static int observer_count;

static void forget_news(News *news) {
  object_drop(news->element);
  object_drop(news->notification);
  free(news);
}

/** A registration on the application covers everything in it; one on an element covers only that element. */
static bool concerns(const Registration *registration, const Node *node, const char *notification) {
  if (!string_is(registration->notification, notification)) return false;
  Node *watched = element_node(registration->element);
  return watched && (watched == node || (!watched->parent && watched->app == node->app));
}

void notify(Node *node, const char *notification) {
  for (int i = 0; i < observer_count; i++) {
    ObserverState *state = observers[i]->as.extra.state;
    for (Registration *at = state->registrations; at; at = at->next) {
      if (!concerns(at, node, notification)) continue;
      News *news = calloc(1, sizeof *news), **end = &state->queue;
      news->element = object_adopt(element_new(node));
      news->notification = object_adopt(string_new(notification));
      news->context = at->context;
      while (*end) end = &(*end)->next;
      *end = news;
    }
  }
}

/* Element and name belong to us: a callback that keeps them must retain them. */
static bool fire(Object *observer) {
  ObserverState *state = observer->as.extra.state;
  News *news = state->queue;
  if (!news) return false;
  state->queue = news->next;
  object_hold(observer);
  Ref element = ref_of(news->element), notification = ref_of(news->notification);
  Object *info = state->with_info ? object_adopt(dictionary_new()) : NULL;
  Pause pause = call_pause();
  if (state->with_info) state->callback_with_info(ref_of(observer), element, notification, ref_of(info), news->context);
  else state->callback(ref_of(observer), element, notification, news->context);
  call_resume(pause);
  object_drop(info);
  forget_news(news);
  object_drop(observer);
  return true;
}

static void observer_finalize(Object *observer) {
  ObserverState *state = observer->as.extra.state;
  for (int i = 0; i < observer_count; i++)
    if (observers[i] == observer) observers[i--] = observers[--observer_count];
  SourceState *source = state->source->as.extra.state;
  source->valid = false;
  object_drop(state->source);
  for (Registration *at = state->registrations, *next; at; at = next) {
    next = at->next;
    object_drop(at->element);
    object_drop(at->notification);
    free(at);
  }
  for (News *news = state->queue, *next; news; news = next) {
    next = news->next;
    forget_news(news);
  }
  free(state);
}

void observer_init(void) { traits[OBSERVER] = (Traits){"AXObserver", 302, "NSObject", observer_finalize, NULL, NULL, NULL}; }

static AXError create(pid_t pid, void *callback, bool with_info, Ref *out) {
  if (!callback || !out || observer_count == MAX_OBSERVERS) return kAXErrorIllegalArgument;
  *out = NULL;
  if (!app_by_pid(pid)) return kAXErrorCannotComplete;
  Object *observer = object_new(OBSERVER, false);
  ObserverState *state = calloc(1, sizeof *state);
  state->pid = pid;
  state->with_info = with_info;
  memcpy(with_info ? (void *)&state->callback_with_info : (void *)&state->callback, &callback, sizeof callback);
  state->source = object_adopt(source_new(observer, fire));
  observer->as.extra.state = state;
  observers[observer_count++] = observer;
  *out = ref_of(observer);
  return kAXErrorSuccess;
}

API CFTypeID AXObserverGetTypeID(void) { return traits[OBSERVER].type; }

API AXError AXObserverCreate(pid_t pid, void *callback, Ref *out) {
  ENTER;
  return create(pid, callback, false, out);
}

API AXError AXObserverCreateWithInfoCallback(pid_t pid, void *callback, Ref *out) {
  ENTER;
  return create(pid, callback, true, out);
}

API Ref AXObserverGetRunLoopSource(Ref ref) {
  ENTER;
  Object *observer = use(ref, OBSERVER, "observer");
  return observer ? ref_of(((ObserverState *)observer->as.extra.state)->source) : NULL;
}

static Registration **registration_of(ObserverState *state, const Object *element, const char *notification) {
  Registration **at = &state->registrations;
  while (*at && !(objects_equal((*at)->element, element) && string_is((*at)->notification, notification))) at = &(*at)->next;
  return at;
}

API AXError AXObserverAddNotification(Ref ref, Ref element, Ref notification, void *context) {
  ENTER;
  Object *observer = use(ref, OBSERVER, "observer");
  const char *name = name_of(notification, "notification");
  Trip trip;
  if (!observer || !name) return observer ? kAXErrorIllegalArgument : kAXErrorInvalidUIElementObserver;
  AXError error = travel(element, &name, 1, &trip);
  if (error) return error;
  ObserverState *state = observer->as.extra.state;
  if (!trip.node || trip.node->app->pid != state->pid) return kAXErrorIllegalArgument;
  if (json_has(node_get(trip.node, "no_notifications"), name)) return kAXErrorNotificationUnsupported;
  Registration **place = registration_of(state, trip.element, name);
  if (*place) return kAXErrorNotificationAlreadyRegistered;
  *place = calloc(1, sizeof **place);
  (*place)->element = object_adopt(element_new(trip.node));
  (*place)->notification = object_adopt(string_new(name));
  (*place)->context = context;
  return kAXErrorSuccess;
}

API AXError AXObserverRemoveNotification(Ref ref, Ref element_ref, Ref notification) {
  ENTER;
  Object *observer = use(ref, OBSERVER, "observer"), *element = use(element_ref, ELEMENT, "element");
  const char *name = name_of(notification, "notification");
  if (!observer || !element || !name) return kAXErrorIllegalArgument;
  Registration **place = registration_of(observer->as.extra.state, element, name), *gone = *place;
  if (!gone) return kAXErrorNotificationNotRegistered;
  *place = gone->next;
  object_drop(gone->element);
  object_drop(gone->notification);
  free(gone);
  return kAXErrorSuccess;
}

/* CGWindowList: the windows of the accessibility tree as the window server lists them. */
#include "foundation.h"
#include "record.h"
#include "trip.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ON_SCREEN_ONLY = 1, ABOVE = 2, BELOW = 4, INCLUDING = 8, NO_DESKTOP = 16 };

#define WINDOW_KEYS(X)                                                                                            \
  X(kCGWindowNumber) X(kCGWindowStoreType) X(kCGWindowLayer) X(kCGWindowBounds) X(kCGWindowSharingState)           \
  X(kCGWindowAlpha) X(kCGWindowOwnerPID) X(kCGWindowMemoryUsage) X(kCGWindowWorkspace) X(kCGWindowOwnerName)       \
  X(kCGWindowName) X(kCGWindowIsOnscreen) X(kCGWindowBackingLocationVideoMemory)
#define DEFINE(name) API Ref name;
WINDOW_KEYS(DEFINE)

void windows_init(void) {
#define CONSTANT(name) name = string_constant(#name);
  WINDOW_KEYS(CONSTANT)
}

/** A window of an application or of the system ("others" of the scene: Dock, menu bar, wallpaper). */
typedef struct {
  uint32_t number;
  int pid, layer;
  CGRect bounds;
  const char *owner;
  char *title; /* to be freed */
  double alpha;
  bool on_screen, desktop;
} Listed;

static Listed from_node(const Node *window) {
  Json *layer = node_get(window, "layer"), *alpha = node_get(window, "alpha");
  char *short_title = node_text(window, "cg_title");
  bool framed = window->framed;
  return (Listed){
      .number = window->number,
      .pid = window->app->pid,
      .layer = layer ? (int)layer->number : node_is(window, "AXMenu") ? 101 : 0,
      .bounds = framed ? node_frame(window) : (CGRect){{0, 0}, {0, 0}},
      .owner = app_name(window->app),
      .title = short_title ? short_title : node_text(window, "AXTitle"),
      .alpha = alpha ? alpha->number : 1,
      .on_screen = window_on_screen(window),
  };
}

static Listed from_json(const Json *said) {
  Json *bounds = json_get(said, "bounds");
  const char *title = json_string(said, "title"), *owner = json_string(said, "owner");
  return (Listed){
      .number = (uint32_t)json_number(said, "window", 0),
      .pid = (int)json_number(said, "pid", 1),
      .layer = (int)json_number(said, "layer", 0),
      .bounds = {{json_at(bounds, 0), json_at(bounds, 1)}, {json_at(bounds, 2), json_at(bounds, 3)}},
      .owner = owner ? owner : "Window Server",
      .title = title ? strdup(title) : NULL,
      .alpha = json_number(said, "alpha", 1),
      .on_screen = !json_get(said, "on_screen") || json_true(said, "on_screen"),
      .desktop = json_true(said, "desktop"),
  };
}

/** All windows, front to back: above the normal layer, the applications' windows, below the normal layer. */
static int list_all(Listed **out) {
  Node **windows;
  int stacked = windows_stacked(&windows), count = 0;
  Json *others = json_get(scene.json, "others");
  Listed *list = calloc((size_t)(stacked + json_count(others) + 1), sizeof *list);
  for (Json *other = others ? others->first : NULL; other; other = other->next)
    if (json_number(other, "layer", 0) > 0) list[count++] = from_json(other);
  for (int i = 0; i < stacked; i++)
    if (!windows[i]->late || windows[i]->open) list[count++] = from_node(windows[i]);
  for (Json *other = others ? others->first : NULL; other; other = other->next)
    if (json_number(other, "layer", 0) <= 0) list[count++] = from_json(other);
  *out = list;
  return count;
}

static void free_all(Listed *list, int count) {
  for (int i = 0; i < count; i++) free(list[i].title);
  free(list);
}

static bool wanted(const Listed *window, int at, int relative_at, uint32_t options) {
  if (options & NO_DESKTOP && window->desktop) return false;
  if (options & (ABOVE | BELOW | INCLUDING)) {
    if (options & INCLUDING && at == relative_at) return true;
    if (options & ABOVE && relative_at >= 0 && at < relative_at) return window->on_screen;
    return options & BELOW && relative_at >= 0 && at > relative_at && window->on_screen;
  }
  return !(options & ON_SCREEN_ONLY) || window->on_screen;
}

static Object *rect_dictionary(CGRect rect) {
  Object *dictionary = dictionary_new();
  dictionary_put_new(dictionary, "X", number_new_double(rect.origin.x));
  dictionary_put_new(dictionary, "Y", number_new_double(rect.origin.y));
  dictionary_put_new(dictionary, "Width", number_new_double(rect.size.width));
  dictionary_put_new(dictionary, "Height", number_new_double(rect.size.height));
  return dictionary;
}

static Object *description(const Listed *window) {
  Object *about = dictionary_new();
  dictionary_put_new(about, "kCGWindowNumber", number_new_integer(window->number));
  dictionary_put_new(about, "kCGWindowStoreType", number_new_integer(1));
  dictionary_put_new(about, "kCGWindowLayer", number_new_integer(window->layer));
  dictionary_put_new(about, "kCGWindowBounds", rect_dictionary(window->bounds));
  dictionary_put_new(about, "kCGWindowSharingState", number_new_integer(1));
  dictionary_put_new(about, "kCGWindowAlpha", number_new_double(window->alpha));
  dictionary_put_new(about, "kCGWindowOwnerPID", number_new_integer(window->pid));
  dictionary_put_new(about, "kCGWindowMemoryUsage", number_new_integer(2288));
  if (window->owner) dictionary_put_new(about, "kCGWindowOwnerName", string_new(window->owner));
  /* Titles need Screen Recording. */
  if (window->title && trusted("screen")) dictionary_put_new(about, "kCGWindowName", string_new(window->title));
  if (window->on_screen) dictionary_put_new(about, "kCGWindowIsOnscreen", object_own(boolean(true)));
  return about;
}

static bool no_session(void) {
  const char *session = json_string(scene.json, "session");
  return session && !strcmp(session, "none");
}

static Object *list_new(uint32_t options, uint32_t relative, bool described) {
  world_turn();
  if (no_session()) return NULL;
  Listed *list;
  int count = list_all(&list), relative_at = -1;
  for (int i = 0; i < count; i++)
    if (list[i].number == relative) relative_at = i;
  Object *array = array_new(count);
  if (!described) array->as.array.retains = false; /* bare window numbers */
  for (int i = 0; i < count; i++) {
    if (!wanted(&list[i], i, relative_at, options)) continue;
    if (described) array_push_new(array, description(&list[i]));
    else array->as.array.items[array->as.array.count++] = (Ref)(uintptr_t)list[i].number;
  }
  free_all(list, count);
  return array;
}

API Ref CGWindowListCopyWindowInfo(uint32_t options, uint32_t relative) {
  ENTER;
  return ref_of(list_new(options, relative, true));
}

API Ref CGWindowListCreate(uint32_t options, uint32_t relative) {
  ENTER;
  return ref_of(list_new(options, relative, false));
}

API Ref CGWindowListCreateDescriptionFromArray(Ref numbers_ref) {
  ENTER;
  Object *numbers = use(numbers_ref, ARRAY, "windowArray");
  if (!numbers || no_session()) return NULL;
  Listed *list;
  int count = list_all(&list);
  Object *array = array_new(numbers->as.array.count);
  for (CFIndex i = 0; i < numbers->as.array.count; i++)
    for (int j = 0; j < count; j++)
      if (list[j].number == (uint32_t)(uintptr_t)numbers->as.array.items[i]) array_push_new(array, description(&list[j]));
  free_all(list, count);
  return ref_of(array);
}

API int32_t CGWindowLevelForKey(int32_t key) {
  static const int32_t levels[] = {-2147483648, -2147483643, -2147483623, 0, 3, 3, 3, 8, 24, 25, 101, 1000, 2147483631, 20, 19, 500, 102, -2147483647, -2147483603, 1500};
  return key >= 0 && key < (int32_t)(sizeof levels / sizeof *levels) ? levels[key] : 0;
}

/* Rectangles as dictionaries */

static bool read_number(Ref ref, const char *key, double *out) {
  Object *dictionary = use(ref, DICTIONARY, "dict"), *value = dictionary ? dictionary_get(dictionary, key) : NULL;
  if (!value || value->kind != NUMBER) return false;
  *out = number_value(value);
  return true;
}

API bool CGPointMakeWithDictionaryRepresentation(Ref ref, CGPoint *point) {
  ENTER;
  return ref && point && read_number(ref, "X", &point->x) && read_number(ref, "Y", &point->y);
}

API bool CGSizeMakeWithDictionaryRepresentation(Ref ref, CGSize *size) {
  ENTER;
  return ref && size && read_number(ref, "Width", &size->width) && read_number(ref, "Height", &size->height);
}

API bool CGRectMakeWithDictionaryRepresentation(Ref ref, CGRect *rect) {
  ENTER;
  return ref && rect && read_number(ref, "X", &rect->origin.x) && read_number(ref, "Y", &rect->origin.y) &&
         read_number(ref, "Width", &rect->size.width) && read_number(ref, "Height", &rect->size.height);
}

API Ref CGRectCreateDictionaryRepresentation(CGRect rect) {
  ENTER;
  return ref_of(rect_dictionary(rect));
}

API Ref CGSessionCopyCurrentDictionary(void) {
  ENTER;
  if (no_session()) return NULL;
  Object *session = dictionary_new();
  dictionary_put_new(session, "kCGSSessionUserNameKey", string_new("someone"));
  dictionary_put_new(session, "kCGSSessionOnConsoleKey", object_own(boolean(true)));
  const char *said = json_string(scene.json, "session");
  if (said && !strcmp(said, "locked")) dictionary_put_new(session, "CGSSessionScreenIsLocked", object_own(boolean(true)));
  return ref_of(session);
}

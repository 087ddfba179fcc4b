/* Displays of the scene (CoreGraphics). */
#include "foundation.h"
#include "record.h"
#include "scene.h"
#include "world.h"

#include <stdlib.h>

typedef struct {
  uint32_t id;
  CGRect bounds;
  double scale;
} Display;

#define MAX_DISPLAYS 8

/** The displays, the main one first. The default is one of 1440 x 900 points. */
static int displays(Display *list) {
  Json *said = json_get(scene.json, "displays");
  int count = 0;
  for (Json *at = said ? said->first : NULL; at && count < MAX_DISPLAYS; at = at->next) {
    Json *bounds = json_get(at, "bounds");
    list[count++] = (Display){(uint32_t)json_number(at, "id", count + 1),
                              {{json_at(bounds, 0), json_at(bounds, 1)}, {json_at(bounds, 2), json_at(bounds, 3)}},
                              json_number(at, "scale", 2)};
  }
  if (!count) list[count++] = (Display){1, {{0, 0}, {1440, 900}}, 2};
  return count;
}

static bool display_by_id(uint32_t id, Display *found) {
  Display list[MAX_DISPLAYS];
  int count = displays(list);
  for (int i = 0; i < count; i++) {
    if (list[i].id != id) continue;
    *found = list[i];
    return true;
  }
  *found = (Display){0};
  return false;
}

double display_scale_at(CGPoint point) {
  Display list[MAX_DISPLAYS];
  int count = displays(list);
  for (int i = 0; i < count; i++)
    if (rect_has(list[i].bounds, point)) return list[i].scale;
  return list[0].scale;
}

/** Index 0 is the main display. False if there is no such display. */
bool display_at_index(int index, uint32_t *id, CGRect *bounds, double *scale) {
  Display list[MAX_DISPLAYS];
  if (index >= displays(list)) return false;
  *id = list[index].id;
  *bounds = list[index].bounds;
  *scale = list[index].scale;
  return true;
}

API uint32_t CGMainDisplayID(void) {
  ENTER;
  Display list[MAX_DISPLAYS];
  displays(list);
  return list[0].id;
}

static CGError list_where(bool (*fits)(const Display *, const void *), const void *with, uint32_t most, uint32_t *ids, uint32_t *count) {
  Display list[MAX_DISPLAYS];
  int known = displays(list);
  uint32_t found = 0;
  if (!count) {
    breach("null", "the count is NULL");
    return 1001;
  }
  for (int i = 0; i < known; i++) {
    if (fits && !fits(&list[i], with)) continue;
    if (ids && found < most) ids[found] = list[i].id;
    if (!ids || found < most) found++;
  }
  *count = found;
  return 0;
}

static bool at_point(const Display *display, const void *point) { return rect_has(display->bounds, *(const CGPoint *)point); }
static bool in_rect(const Display *display, const void *rect) { return rects_meet(display->bounds, *(const CGRect *)rect); }

API CGError CGGetActiveDisplayList(uint32_t most, uint32_t *ids, uint32_t *count) {
  ENTER;
  return list_where(NULL, NULL, most, ids, count);
}

API CGError CGGetOnlineDisplayList(uint32_t most, uint32_t *ids, uint32_t *count) {
  ENTER;
  return list_where(NULL, NULL, most, ids, count);
}

API CGError CGGetDisplaysWithPoint(CGPoint point, uint32_t most, uint32_t *ids, uint32_t *count) {
  ENTER;
  return list_where(at_point, &point, most, ids, count);
}

API CGError CGGetDisplaysWithRect(CGRect rect, uint32_t most, uint32_t *ids, uint32_t *count) {
  ENTER;
  return list_where(in_rect, &rect, most, ids, count);
}

API CGRect CGDisplayBounds(uint32_t id) {
  ENTER;
  Display display;
  display_by_id(id, &display);
  return display.bounds;
}

API CGSize CGDisplayScreenSize(uint32_t id) {
  ENTER;
  Display display;
  display_by_id(id, &display);
  return (CGSize){display.bounds.size.width * 0.23, display.bounds.size.height * 0.23};
}

API size_t CGDisplayPixelsWide(uint32_t id) {
  ENTER;
  Display display;
  display_by_id(id, &display);
  return (size_t)display.bounds.size.width;
}

API size_t CGDisplayPixelsHigh(uint32_t id) {
  ENTER;
  Display display;
  display_by_id(id, &display);
  return (size_t)display.bounds.size.height;
}

API double CGDisplayRotation(uint32_t id) { return (void)id, 0; }
API uint32_t CGDisplaySerialNumber(uint32_t id) { return id; }
API uint32_t CGDisplayUnitNumber(uint32_t id) { return id; }
API uint32_t CGDisplayVendorNumber(uint32_t id) { return (void)id, 0x610; }
API int32_t CGDisplayIsAsleep(uint32_t id) { return (void)id, 0; }

API int32_t CGDisplayIsActive(uint32_t id) {
  ENTER;
  Display display;
  return display_by_id(id, &display);
}

API int32_t CGDisplayIsMain(uint32_t id) {
  ENTER;
  Display list[MAX_DISPLAYS];
  displays(list);
  return list[0].id == id;
}

API int32_t CGDisplayIsBuiltin(uint32_t id) {
  ENTER;
  Display list[MAX_DISPLAYS];
  displays(list);
  return list[0].id == id;
}

/* Modes: width and height in points, and in pixels */

API Ref CGDisplayCopyDisplayMode(uint32_t id) {
  ENTER;
  Display display;
  if (!display_by_id(id, &display)) return NULL;
  Object *mode = object_new(DISPLAY_MODE, false);
  Display *state = malloc(sizeof *state);
  *state = display;
  mode->as.extra.state = state;
  return ref_of(mode);
}

static void mode_finalize(Object *mode) { free(mode->as.extra.state); }

void displays_init(void) { traits[DISPLAY_MODE] = (Traits){"CGDisplayMode", 320, "NSObject", mode_finalize, NULL, NULL, NULL}; }

static Display mode_of(Ref ref) {
  Object *mode = use(ref, DISPLAY_MODE, "mode");
  return mode ? *(Display *)mode->as.extra.state : (Display){0};
}

API size_t CGDisplayModeGetWidth(Ref ref) {
  ENTER;
  return (size_t)mode_of(ref).bounds.size.width;
}

API size_t CGDisplayModeGetHeight(Ref ref) {
  ENTER;
  return (size_t)mode_of(ref).bounds.size.height;
}

API size_t CGDisplayModeGetPixelWidth(Ref ref) {
  ENTER;
  Display display = mode_of(ref);
  return (size_t)(display.bounds.size.width * display.scale);
}

API size_t CGDisplayModeGetPixelHeight(Ref ref) {
  ENTER;
  Display display = mode_of(ref);
  return (size_t)(display.bounds.size.height * display.scale);
}

API double CGDisplayModeGetRefreshRate(Ref ref) {
  ENTER;
  use(ref, DISPLAY_MODE, "mode");
  return 60;
}

/* The Release functions of CoreGraphics take NULL; CFRelease does not. */
API void CGDisplayModeRelease(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

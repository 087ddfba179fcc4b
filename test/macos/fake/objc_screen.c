/* NSScreen, NSEvent and NSApplication. Cocoa's y axis points upwards from the bottom of the main screen. */
#include "image.h"
#include "objc.h"
#include "record.h"
#include "world.h"

#include <stdlib.h>

static CGRect flipped(CGRect rect) {
  uint32_t id;
  CGRect main;
  double scale;
  display_at_index(0, &id, &main, &scale);
  rect.origin.y = main.size.height - rect.origin.y - rect.size.height;
  return rect;
}

static Object *screen_new(int index) {
  int *state = malloc(sizeof *state);
  *state = index;
  return instance_new("NSScreen", state);
}

static void display_of(const Message *m, uint32_t *id, CGRect *bounds, double *scale) {
  display_at_index(*(int *)m->self->as.extra.state, id, bounds, scale);
}

static void screen_screens(Message *m) {
  uint32_t id;
  CGRect bounds;
  double scale;
  Object *list = array_new(2);
  for (int i = 0; display_at_index(i, &id, &bounds, &scale); i++) array_push_new(list, screen_new(i));
  answer_autoreleased(m, list);
}

static void screen_main(Message *m) { answer_autoreleased(m, screen_new(0)); }

static void screen_frame(Message *m) {
  uint32_t id;
  CGRect bounds;
  double scale;
  display_of(m, &id, &bounds, &scale);
  answer_rect(m, flipped(bounds));
}

static void screen_visible(Message *m) {
  uint32_t id;
  CGRect bounds;
  double scale;
  display_of(m, &id, &bounds, &scale);
  bounds.origin.y += 25; /* the menu bar */
  bounds.size.height -= 25;
  answer_rect(m, flipped(bounds));
}

static void screen_scale(Message *m) {
  uint32_t id;
  CGRect bounds;
  double scale;
  display_of(m, &id, &bounds, &scale);
  answer_real(m, scale);
}

static void screen_name(Message *m) { answer_autoreleased(m, string_new("Built-in Retina Display")); }

static void screen_description(Message *m) {
  uint32_t id;
  CGRect bounds;
  double scale;
  display_of(m, &id, &bounds, &scale);
  Object *about = dictionary_new();
  dictionary_put_new(about, "NSScreenNumber", number_new_integer(id));
  answer_autoreleased(m, about);
}

static void event_location(Message *m) {
  world_turn();
  uint32_t id;
  CGRect main;
  double scale;
  display_at_index(0, &id, &main, &scale);
  m->result->reals[0] = scene.cursor.x;
  m->result->reals[1] = main.size.height - scene.cursor.y;
}

static void event_flags(Message *m) { answer(m, scene.flags); }

static Object *application;

static void application_shared(Message *m) {
  if (!on_main_thread()) breach("main_thread", "AppKit belongs to the main thread");
  if (!application) application = object_constant(instance_new("NSApplication", NULL));
  answer_object(m, application);
}

static void application_policy(Message *m) { answer(m, 1); }

const Method screen_methods[] = {
    {"NSScreen", '+', "screens", "@", screen_screens},
    {"NSScreen", '+', "mainScreen", "@", screen_main},
    {"NSScreen", '-', "frame", "R", screen_frame},
    {"NSScreen", '-', "visibleFrame", "R", screen_visible},
    {"NSScreen", '-', "backingScaleFactor", "d", screen_scale},
    {"NSScreen", '-', "localizedName", "@", screen_name},
    {"NSScreen", '-', "deviceDescription", "@", screen_description},
    {"NSEvent", '+', "mouseLocation", "P", event_location},
    {"NSEvent", '+', "modifierFlags", "Q", event_flags},
    {"NSApplication", '+', "sharedApplication", "@", application_shared},
    {"NSApplication", '-', "setActivationPolicy:", "Bq", application_policy},
    {NULL, 0, NULL, NULL, NULL},
};

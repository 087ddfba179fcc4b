/* NSPasteboard over the scene's pasteboard: {"public.utf8-plain-text": "…", another type: "…"}. */
#include "objc.h"
#include "record.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_COUNT 7 /* no program is the first to use the pasteboard */

API Ref NSPasteboardTypeString, NSPasteboardTypeHTML, NSPasteboardTypeRTF, NSPasteboardTypePNG, NSPasteboardTypeFileURL, NSPasteboardNameGeneral;

static Object *general;

void pasteboard_init(void) {
  NSPasteboardTypeString = string_constant("public.utf8-plain-text");
  NSPasteboardTypeHTML = string_constant("public.html");
  NSPasteboardTypeRTF = string_constant("public.rtf");
  NSPasteboardTypePNG = string_constant("public.png");
  NSPasteboardTypeFileURL = string_constant("public.file-url");
  NSPasteboardNameGeneral = string_constant("Apple CFPasteboard general");
}

static Json *contents(void) { return json_get(scene.json, "pasteboard"); }

/* Waits for the owner of the pasteboard, which may be slow. */
static void ask_owner(void) {
  world_turn();
  sleep_us(json_number(scene.json, "pasteboard_slow_ms", 0) * 1e3);
}

static void change(Json *to, const char *how) {
  Text line = record_open("pasteboard");
  text_printf(&line, ",\"how\":\"%s\",\"contents\":", how);
  json_print(&line, to);
  record_close(&line);
  Json *effect = effect_new("pasteboard", NULL);
  json_set(effect, "contents", to);
  world_do(effect);
}

static void pasteboard_general(Message *m) {
  if (!general) general = object_constant(instance_new("NSPasteboard", NULL));
  answer_object(m, general);
}

static void pasteboard_clear(Message *m) {
  change(json_new(J_OBJECT), "clear");
  answer(m, (uint64_t)scene.pasteboard_changes + FIRST_COUNT);
}

static void pasteboard_declare(Message *m) {
  argument(m, 0, ARRAY, "newTypes");
  pasteboard_clear(m);
}

static void pasteboard_set_string(Message *m) {
  Object *string = argument(m, 0, STRING, "string"), *type = argument(m, 1, STRING, "dataType");
  if (!string || !type) {
    fatal("NSInvalidArgumentException", "-[NSPasteboard setString:forType:]: nil argument");
    return;
  }
  Json *now = contents(), *to = now ? json_clone(now) : json_new(J_OBJECT);
  json_set(to, string_utf8(type), json_new_string(string_utf8(string)));
  change(to, "set");
  answer(m, 1);
}

static void pasteboard_string(Message *m) {
  Object *type = argument(m, 0, STRING, "dataType");
  ask_owner();
  const char *text = type ? json_string(contents(), string_utf8(type)) : NULL;
  answer_autoreleased(m, text ? string_new(text) : NULL);
}

static void pasteboard_data(Message *m) {
  Object *type = argument(m, 0, STRING, "dataType");
  ask_owner();
  const char *text = type ? json_string(contents(), string_utf8(type)) : NULL;
  answer_autoreleased(m, text ? bytes_new(text, (CFIndex)strlen(text)) : NULL);
}

static void pasteboard_types(Message *m) {
  ask_owner();
  Json *now = contents();
  Object *types = array_new(json_count(now));
  for (Json *item = now ? now->first : NULL; item; item = item->next) array_push_new(types, string_new(item->key));
  answer_autoreleased(m, types);
}

static void pasteboard_available(Message *m) {
  Object *wanted = argument(m, 0, ARRAY, "types");
  ask_owner();
  for (CFIndex i = 0; wanted && i < wanted->as.array.count; i++) {
    Object *type = array_item(wanted, i);
    if (!type || type->kind != STRING || !json_get(contents(), string_utf8(type))) continue;
    answer_object(m, type);
    return;
  }
}

static void pasteboard_count(Message *m) {
  world_turn();
  answer(m, (uint64_t)scene.pasteboard_changes + FIRST_COUNT);
}

static void pasteboard_access(Message *m) { answer(m, (uint64_t)json_number(scene.json, "pasteboard_access", 2)); }

const Method pasteboard_methods[] = {
    {"NSPasteboard", '+', "generalPasteboard", "@", pasteboard_general},
    {"NSPasteboard", '-', "clearContents", "q", pasteboard_clear},
    {"NSPasteboard", '-', "declareTypes:owner:", "q@@", pasteboard_declare},
    {"NSPasteboard", '-', "setString:forType:", "B@@", pasteboard_set_string},
    {"NSPasteboard", '-', "stringForType:", "@@", pasteboard_string},
    {"NSPasteboard", '-', "dataForType:", "@@", pasteboard_data},
    {"NSPasteboard", '-', "types", "@", pasteboard_types},
    {"NSPasteboard", '-', "availableTypeFromArray:", "@@", pasteboard_available},
    {"NSPasteboard", '-', "changeCount", "q", pasteboard_count},
    {"NSPasteboard", '-', "accessBehavior", "q", pasteboard_access},
    {NULL, 0, NULL, NULL, NULL},
};

/* Input sources and key translation (HIToolbox, CarbonCore). */
#include "foundation.h"
#include "keyboard.h"
#include "record.h"
#include "scene.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "fakemac keyboard layout "

API Ref kTISPropertyUnicodeKeyLayoutData, kTISPropertyInputSourceID, kTISPropertyLocalizedName, kTISPropertyInputSourceIsASCIICapable,
    kTISPropertyInputSourceType, kTISPropertyInputSourceCategory, kTISPropertyInputSourceIsSelected, kTISPropertyInputSourceLanguages,
    kTISTypeKeyboardLayout, kTISTypeKeyboardInputMethodWithoutModes, kTISCategoryKeyboardInputSource;

static void source_finalize(Object *source) { object_drop(source->as.holder.inner); }

static bool source_equal(const Object *a, const Object *b) {
  return objects_equal(dictionary_get(a->as.holder.inner, "TISPropertyInputSourceID"), dictionary_get(b->as.holder.inner, "TISPropertyInputSourceID"));
}

void carbon_init(void) {
  traits[INPUT_SOURCE] = (Traits){"TISInputSource", 310, "NSObject", source_finalize, source_equal, NULL, NULL};
  kTISPropertyUnicodeKeyLayoutData = string_constant("TISPropertyUnicodeKeyLayoutData");
  kTISPropertyInputSourceID = string_constant("TISPropertyInputSourceID");
  kTISPropertyLocalizedName = string_constant("TISPropertyLocalizedName");
  kTISPropertyInputSourceIsASCIICapable = string_constant("TISPropertyInputSourceIsASCIICapable");
  kTISPropertyInputSourceType = string_constant("TISPropertyInputSourceType");
  kTISPropertyInputSourceCategory = string_constant("TISPropertyInputSourceCategory");
  kTISPropertyInputSourceIsSelected = string_constant("TISPropertyInputSourceIsSelected");
  kTISPropertyInputSourceLanguages = string_constant("TISPropertyInputSourceLanguages");
  kTISTypeKeyboardLayout = string_constant("TISTypeKeyboardLayout");
  kTISTypeKeyboardInputMethodWithoutModes = string_constant("TISTypeKeyboardInputMethodWithoutModes");
  kTISCategoryKeyboardInputSource = string_constant("TISCategoryKeyboardInputSource");
}

/* The real functions assert that they run on the main queue. */
static void main_thread_only(void) {
  if (!on_main_thread()) breach("main_thread", "may only be called on the main thread");
}

static Object *source_new_with(const char *id, const char *name, const char *type, bool ascii, Object *layout_data) {
  Object *properties = object_adopt(dictionary_new());
  dictionary_put_new(properties, "TISPropertyInputSourceID", string_new(id));
  dictionary_put_new(properties, "TISPropertyLocalizedName", string_new(name));
  dictionary_put_new(properties, "TISPropertyInputSourceType", string_new(type));
  dictionary_put_new(properties, "TISPropertyInputSourceCategory", string_new("TISCategoryKeyboardInputSource"));
  dictionary_put_new(properties, "TISPropertyInputSourceIsASCIICapable", object_own(boolean(ascii)));
  if (layout_data) dictionary_put_new(properties, "TISPropertyUnicodeKeyLayoutData", layout_data);
  Object *source = object_new(INPUT_SOURCE, false);
  source->as.holder.inner = properties;
  return source;
}

static Object *layout_source_new(const char *name) {
  const Json *layout = layout_named(name);
  char bytes[64];
  int length = snprintf(bytes, sizeof bytes, MAGIC "%s", name) + 1;
  return source_new_with(json_string(layout, "id"), json_string(layout, "name"), "TISTypeKeyboardLayout", json_true(layout, "ascii"), bytes_new(bytes, length));
}

API CFTypeID TISInputSourceGetTypeID(void) { return traits[INPUT_SOURCE].type; }

/** An input method does not have a layout. */
API Ref TISCopyCurrentKeyboardInputSource(void) {
  ENTER;
  main_thread_only();
  world_turn();
  const char *method = json_string(json_get(scene.json, "keyboard"), "method");
  if (!method) return ref_of(layout_source_new(layout_current()));
  return ref_of(source_new_with(method, "Input method", "TISTypeKeyboardInputMethodWithoutModes", true, NULL));
}

API Ref TISCopyCurrentKeyboardLayoutInputSource(void) {
  ENTER;
  main_thread_only();
  world_turn();
  return ref_of(layout_source_new(layout_current()));
}

API Ref TISCopyCurrentASCIICapableKeyboardLayoutInputSource(void) {
  ENTER;
  main_thread_only();
  world_turn();
  return ref_of(layout_source_new(json_true(layout_named(layout_current()), "ascii") ? layout_current() : "us"));
}

API Ref TISCreateInputSourceList(Ref filter_ref, Boolean all) {
  ENTER;
  (void)all;
  main_thread_only();
  Object *filter = filter_ref ? use(filter_ref, DICTIONARY, "properties") : NULL;
  Object *id = filter ? dictionary_get(filter, "TISPropertyInputSourceID") : NULL, *list = array_new(4);
  for (Json *layout = layouts->first; layout; layout = layout->next)
    if (!id || string_is(id, json_string(layout, "id"))) array_push_new(list, layout_source_new(layout->key));
  return ref_of(list);
}

API Ref TISGetInputSourceProperty(Ref ref, Ref key_ref) {
  ENTER;
  main_thread_only();
  Object *source = use(ref, INPUT_SOURCE, "inputSource"), *key = use(key_ref, STRING, "propertyKey");
  return source && key ? ref_of(dictionary_find(source->as.holder.inner, key)) : NULL;
}

API OSStatus TISSelectInputSource(Ref ref) {
  ENTER;
  main_thread_only();
  Object *source = use(ref, INPUT_SOURCE, "inputSource");
  if (!source) return -50;
  Object *id = dictionary_get(source->as.holder.inner, "TISPropertyInputSourceID");
  for (Json *layout = layouts->first; layout; layout = layout->next) {
    if (!string_is(id, json_string(layout, "id"))) continue;
    Json *effect = effect_new("layout", NULL);
    json_set(json_set(effect, "keyboard", json_new(J_OBJECT)), "layout", json_new_string(layout->key));
    world_do(effect);
  }
  return 0;
}

API uint8_t LMGetKbdType(void) { return 40; }
API uint8_t LMGetKbdLast(void) { return 40; }

/** The text that a key types. Dead keys wait in `dead_state` unless kUCKeyTranslateNoDeadKeysMask is set. */
API OSStatus UCKeyTranslate(const char *layout_bytes, uint16_t key, uint16_t action, uint32_t modifiers, uint32_t keyboard, uint32_t options, uint32_t *dead_state, unsigned long most, unsigned long *length, UniChar *units) {
  ENTER;
  (void)keyboard;
  if (!layout_bytes || !dead_state || !length || !units) {
    breach("null", "a pointer argument is NULL");
    return -50;
  }
  *length = 0;
  Json *layout = strncmp(layout_bytes, MAGIC, strlen(MAGIC)) ? NULL : layout_named(layout_bytes + strlen(MAGIC));
  if (!layout) {
    breach("wrong_type", "keyLayoutPtr is not a keyboard layout");
    return -50;
  }
  if (!most || action > 3) return -50;
  if (action == 1) return 0; /* a key that goes up types nothing */
  /* With command, many layouts ignore shift. */
  bool shift = (modifiers & 3) == 2, caps = modifiers & 4, option = modifiers & 8, control = modifiers & 16, dead;
  const char *text = layout_key(layout, key, (shift ? SHIFT_DOWN : 0) | (option ? OPTION_DOWN : 0), &dead);
  char other[2] = {*text, 0};
  if (caps && !text[1] && *text >= 'a' && *text <= 'z') other[0] = (char)(*text - 32);
  if (control && !text[1] && *text >= '@') other[0] = (char)(*text & 0x1f);
  if (*text && !text[1]) text = other;
  const char *accent = NULL;
  if (*dead_state) {
    accent = layout_key(layout, (int)(*dead_state & 0xff), (int)(*dead_state >> 8 & 3), &(bool){false});
    *dead_state = 0;
  } else if (dead && !(options & 1) && action != 3) {
    *dead_state = 0x10000u | (uint32_t)((shift ? SHIFT_DOWN : 0) | (option ? OPTION_DOWN : 0)) << 8 | key;
    return 0;
  }
  const char *composed = accent ? compose(accent, text) : NULL;
  Text result = {0};
  if (accent && !composed) text_add(&result, accent);
  text_add(&result, composed ? composed : text);
  uint16_t *made;
  long count = utf16_from_utf8(result.chars, result.length, 1, &made);
  for (long i = 0; i < count && (unsigned long)i < most; i++) units[(*length)++] = made[i];
  free(made);
  text_free(&result);
  return 0;
}

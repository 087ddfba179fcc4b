#include "foundation.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

static const void *callback_retain(Ref allocator, const void *value) {
  (void)allocator;
  Object *object = use(value, ANY, "a member");
  if (object) object_hold(object);
  return value;
}

static void callback_release(Ref allocator, const void *value) {
  (void)allocator;
  Object *object = use(value, ANY, "a member");
  if (object) object_drop(object);
}

static Boolean callback_equal(const void *a, const void *b) {
  Object *first = peek(a), *second = peek(b);
  return first && second ? objects_equal(first, second) : a == b;
}

static CFHashCode callback_hash(const void *value) {
  Object *object = peek(value);
  return object ? object_hash(object) : (CFHashCode)value;
}

API const CFArrayCallBacks kCFTypeArrayCallBacks = {0, callback_retain, callback_release, NULL, callback_equal};
API const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks = {0, callback_retain, callback_release, NULL, callback_equal, callback_hash};
API const CFDictionaryKeyCallBacks kCFCopyStringDictionaryKeyCallBacks = {0, callback_retain, callback_release, NULL, callback_equal, callback_hash};
API const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks = {0, callback_retain, callback_release, NULL, callback_equal};

/** True if members are retained. Only the frameworks' own callbacks, or none, are modelled. */
static bool retains(const void *callbacks) {
  const CFArrayCallBacks *given = callbacks;
  if (!given || !given->retain) return false;
  if (given->retain != callback_retain) breach("unsupported", "callbacks of the caller's own");
  return true;
}

static bool member_fits(bool retaining, Ref value) { return !retaining || use(value, ANY, "a member"); }

/* Arrays */

static void array_room(Object *array, CFIndex count) {
  if (count <= array->as.array.room) return;
  array->as.array.room = count * 2;
  array->as.array.items = realloc(array->as.array.items, (size_t)array->as.array.room * sizeof(Ref));
}

Object *array_new(CFIndex room) {
  Object *array = object_new(ARRAY, false);
  array->as.array.retains = true;
  if (room) array_room(array, room);
  return array;
}

void array_push(Object *array, Object *item) {
  array_room(array, array->as.array.count + 1);
  array->as.array.items[array->as.array.count++] = ref_of(object_hold(item));
}

void array_push_new(Object *array, Object *item) {
  array_room(array, array->as.array.count + 1);
  array->as.array.items[array->as.array.count++] = ref_of(object_adopt(item));
}

Object *array_item(const Object *array, CFIndex index) {
  return index >= 0 && index < array->as.array.count ? peek(array->as.array.items[index]) : NULL;
}

static void array_finalize(Object *array) {
  for (CFIndex i = 0; array->as.array.retains && i < array->as.array.count; i++) object_drop(peek(array->as.array.items[i]));
  free(array->as.array.items);
}

static bool array_equal(const Object *a, const Object *b) {
  if (a->as.array.count != b->as.array.count) return false;
  for (CFIndex i = 0; i < a->as.array.count; i++)
    if (!callback_equal(a->as.array.items[i], b->as.array.items[i])) return false;
  return true;
}

static CFHashCode array_hash(const Object *array) { return (CFHashCode)array->as.array.count; }

static void array_describe(const Object *array, Text *text) {
  text_printf(text, "array of %ld", array->as.array.count);
  Object *first = array_item(array, 0);
  if (!first) return;
  text_add(text, ", first ");
  object_describe(first, text);
}

API CFTypeID CFArrayGetTypeID(void) { return traits[ARRAY].type; }
API CFTypeID CFSetGetTypeID(void) { return 17; }

API Ref CFArrayCreate(Ref allocator, const Ref *values, CFIndex count, const CFArrayCallBacks *callbacks) {
  ENTER;
  (void)allocator;
  if (count < 0 || (count && !values)) {
    breach("null", "values is NULL or numValues negative");
    return NULL;
  }
  bool retaining = retains(callbacks);
  for (CFIndex i = 0; i < count; i++)
    if (!member_fits(retaining, values[i])) return NULL;
  Object *array = array_new(count);
  array->as.array.retains = retaining;
  for (CFIndex i = 0; i < count; i++) array->as.array.items[i] = retaining ? callback_retain(NULL, values[i]) : values[i];
  array->as.array.count = count;
  return ref_of(array);
}

API Ref CFArrayCreateMutable(Ref allocator, CFIndex capacity, const CFArrayCallBacks *callbacks) {
  ENTER;
  (void)allocator;
  Object *array = array_new(capacity > 0 ? capacity : 4);
  array->as.array.retains = retains(callbacks);
  array->changeable = true;
  return ref_of(array);
}

API void CFArrayAppendValue(Ref ref, Ref value) {
  ENTER;
  Object *array = use(ref, ARRAY, "theArray");
  if (!array || !member_fits(array->as.array.retains, value)) return;
  if (!array->changeable) {
    breach("immutable", "the array cannot be changed");
    return;
  }
  array_room(array, array->as.array.count + 1);
  array->as.array.items[array->as.array.count++] = array->as.array.retains ? callback_retain(NULL, value) : value;
}

API CFIndex CFArrayGetCount(Ref ref) {
  ENTER;
  Object *array = use(ref, ARRAY, "theArray");
  return array ? array->as.array.count : 0;
}

static bool array_fits(const Object *array, CFIndex location, CFIndex length) {
  if (location >= 0 && length >= 0 && location + length <= array->as.array.count) return true;
  breach("range", "{%ld, %ld} is outside an array of %ld", location, length, array->as.array.count);
  return false;
}

API Ref CFArrayGetValueAtIndex(Ref ref, CFIndex index) {
  ENTER;
  Object *array = use(ref, ARRAY, "theArray");
  return array && array_fits(array, index, 1) ? array->as.array.items[index] : NULL;
}

API void CFArrayGetValues(Ref ref, CFRange range, Ref *values) {
  ENTER;
  Object *array = use(ref, ARRAY, "theArray");
  if (!array || !array_fits(array, range.location, range.length)) return;
  if (!values && range.length) breach("null", "values is NULL");
  else if (range.length) memcpy(values, array->as.array.items + range.location, (size_t)range.length * sizeof *values);
}

API void CFArrayApplyFunction(Ref ref, CFRange range, void (*applier)(const void *, void *), void *context) {
  ENTER;
  Object *array = use(ref, ARRAY, "theArray");
  if (!array || !array_fits(array, range.location, range.length)) return;
  for (CFIndex i = 0; i < range.length; i++) {
    Ref item = array->as.array.items[range.location + i];
    Pause pause = call_pause();
    applier(item, context);
    call_resume(pause);
  }
}

/* Dictionaries: pairs in order of insertion, and a hash index */

static CFHashCode key_hash(const Object *dictionary, Ref key) {
  CFHashCode hash = dictionary->as.dictionary.retains_keys ? callback_hash(key) : (CFHashCode)key;
  return hash * 0x9e3779b97f4a7c15u >> 20;
}

static int32_t *key_slot(const Object *dictionary, Ref key) {
  long mask = dictionary->as.dictionary.slots - 1, at = (long)key_hash(dictionary, key) & mask;
  for (;; at = (at + 1) & mask) {
    int32_t *slot = &dictionary->as.dictionary.index[at];
    if (!*slot) return slot;
    Ref known = dictionary->as.dictionary.keys[*slot - 1];
    if (known == key || (dictionary->as.dictionary.retains_keys && callback_equal(known, key))) return slot;
  }
}

Object *dictionary_new(void) {
  Object *dictionary = object_new(DICTIONARY, false);
  dictionary->as.dictionary.retains_keys = dictionary->as.dictionary.retains_values = true;
  return dictionary;
}

static CFIndex key_index(const Object *dictionary, Ref key) {
  return dictionary->as.dictionary.slots ? *key_slot(dictionary, key) - 1 : -1;
}

static void dictionary_room(Object *dictionary) {
  if (dictionary->as.dictionary.count * 2 < dictionary->as.dictionary.slots) return;
  long slots = dictionary->as.dictionary.slots = dictionary->as.dictionary.slots ? dictionary->as.dictionary.slots * 4 : 16;
  dictionary->as.dictionary.keys = realloc(dictionary->as.dictionary.keys, (size_t)slots * sizeof(Ref));
  dictionary->as.dictionary.values = realloc(dictionary->as.dictionary.values, (size_t)slots * sizeof(Ref));
  free(dictionary->as.dictionary.index);
  dictionary->as.dictionary.index = calloc((size_t)slots, sizeof(int32_t));
  for (CFIndex i = 0; i < dictionary->as.dictionary.count; i++)
    *key_slot(dictionary, dictionary->as.dictionary.keys[i]) = (int32_t)i + 1;
}

static void put(Object *dictionary, Ref key, Ref value) {
  dictionary_room(dictionary);
  int32_t *slot = key_slot(dictionary, key);
  if (dictionary->as.dictionary.retains_values) callback_retain(NULL, value);
  if (*slot) {
    Ref *place = &dictionary->as.dictionary.values[*slot - 1];
    if (dictionary->as.dictionary.retains_values) callback_release(NULL, *place);
    *place = value;
    return;
  }
  if (dictionary->as.dictionary.retains_keys) callback_retain(NULL, key);
  CFIndex at = dictionary->as.dictionary.count++;
  dictionary->as.dictionary.keys[at] = key;
  dictionary->as.dictionary.values[at] = value;
  *slot = (int32_t)at + 1;
}

void dictionary_put(Object *dictionary, Object *key, Object *value) { put(dictionary, ref_of(key), ref_of(value)); }

void dictionary_put_new(Object *dictionary, const char *key, Object *value) {
  Object *name = string_new(key);
  dictionary_put(dictionary, name, value);
  object_disown(name);
  object_disown(value);
}

Object *dictionary_find(const Object *dictionary, const Object *key) {
  CFIndex at = key_index(dictionary, ref_of(key));
  return at < 0 ? NULL : peek(dictionary->as.dictionary.values[at]);
}

Object *dictionary_get(const Object *dictionary, const char *key) {
  Object *name = string_new(key), *value = dictionary_find(dictionary, name);
  object_disown(name);
  return value;
}

static void dictionary_finalize(Object *dictionary) {
  for (CFIndex i = 0; i < dictionary->as.dictionary.count; i++) {
    if (dictionary->as.dictionary.retains_keys) object_drop(peek(dictionary->as.dictionary.keys[i]));
    if (dictionary->as.dictionary.retains_values) object_drop(peek(dictionary->as.dictionary.values[i]));
  }
  free(dictionary->as.dictionary.keys);
  free(dictionary->as.dictionary.values);
  free(dictionary->as.dictionary.index);
}

static bool dictionary_equal(const Object *a, const Object *b) {
  if (a->as.dictionary.count != b->as.dictionary.count) return false;
  for (CFIndex i = 0; i < a->as.dictionary.count; i++) {
    CFIndex at = key_index(b, a->as.dictionary.keys[i]);
    if (at < 0 || !callback_equal(a->as.dictionary.values[i], b->as.dictionary.values[at])) return false;
  }
  return true;
}

static CFHashCode dictionary_hash(const Object *dictionary) { return (CFHashCode)dictionary->as.dictionary.count; }

static void dictionary_describe(const Object *dictionary, Text *text) {
  text_printf(text, "dictionary of %ld", dictionary->as.dictionary.count);
}

API CFTypeID CFDictionaryGetTypeID(void) { return traits[DICTIONARY].type; }

API Ref CFDictionaryCreate(Ref allocator, const Ref *keys, const Ref *values, CFIndex count, const CFDictionaryKeyCallBacks *on_keys, const CFDictionaryValueCallBacks *on_values) {
  ENTER;
  (void)allocator;
  if (count < 0 || (count && (!keys || !values))) {
    breach("null", "keys or values is NULL or numValues negative");
    return NULL;
  }
  bool retains_keys = retains(on_keys), retains_values = retains(on_values);
  for (CFIndex i = 0; i < count; i++)
    if (!member_fits(retains_keys, keys[i]) || !member_fits(retains_values, values[i])) return NULL;
  Object *dictionary = dictionary_new();
  dictionary->as.dictionary.retains_keys = retains_keys;
  dictionary->as.dictionary.retains_values = retains_values;
  for (CFIndex i = 0; i < count; i++) put(dictionary, keys[i], values[i]);
  return ref_of(dictionary);
}

API Ref CFDictionaryCreateMutable(Ref allocator, CFIndex capacity, const CFDictionaryKeyCallBacks *on_keys, const CFDictionaryValueCallBacks *on_values) {
  ENTER;
  (void)allocator;
  (void)capacity;
  Object *dictionary = dictionary_new();
  dictionary->as.dictionary.retains_keys = retains(on_keys);
  dictionary->as.dictionary.retains_values = retains(on_values);
  dictionary->changeable = true;
  return ref_of(dictionary);
}

API void CFDictionarySetValue(Ref ref, Ref key, Ref value) {
  ENTER;
  Object *dictionary = use(ref, DICTIONARY, "theDict");
  if (!dictionary) return;
  if (!member_fits(dictionary->as.dictionary.retains_keys, key) || !member_fits(dictionary->as.dictionary.retains_values, value)) return;
  if (dictionary->changeable) put(dictionary, key, value);
  else breach("immutable", "the dictionary cannot be changed");
}

API CFIndex CFDictionaryGetCount(Ref ref) {
  ENTER;
  Object *dictionary = use(ref, DICTIONARY, "theDict");
  return dictionary ? dictionary->as.dictionary.count : 0;
}

static CFIndex look_up(Ref ref, Ref key, Object **dictionary) {
  *dictionary = use(ref, DICTIONARY, "theDict");
  if (!*dictionary || !member_fits((*dictionary)->as.dictionary.retains_keys, key)) return -1;
  return key_index(*dictionary, key);
}

API Ref CFDictionaryGetValue(Ref ref, Ref key) {
  ENTER;
  Object *dictionary;
  CFIndex at = look_up(ref, key, &dictionary);
  return at < 0 ? NULL : dictionary->as.dictionary.values[at];
}

API Boolean CFDictionaryGetValueIfPresent(Ref ref, Ref key, Ref *value) {
  ENTER;
  Object *dictionary;
  CFIndex at = look_up(ref, key, &dictionary);
  if (at >= 0 && value) *value = dictionary->as.dictionary.values[at];
  return at >= 0;
}

API Boolean CFDictionaryContainsKey(Ref ref, Ref key) {
  ENTER;
  Object *dictionary;
  return look_up(ref, key, &dictionary) >= 0;
}

API void CFDictionaryGetKeysAndValues(Ref ref, Ref *keys, Ref *values) {
  ENTER;
  Object *dictionary = use(ref, DICTIONARY, "theDict");
  size_t size = dictionary ? (size_t)dictionary->as.dictionary.count * sizeof(Ref) : 0;
  if (size && keys) memcpy(keys, dictionary->as.dictionary.keys, size);
  if (size && values) memcpy(values, dictionary->as.dictionary.values, size);
}

API void CFDictionaryApplyFunction(Ref ref, void (*applier)(const void *, const void *, void *), void *context) {
  ENTER;
  Object *dictionary = use(ref, DICTIONARY, "theDict");
  for (CFIndex i = 0; dictionary && i < dictionary->as.dictionary.count; i++) {
    Ref key = dictionary->as.dictionary.keys[i], value = dictionary->as.dictionary.values[i];
    Pause pause = call_pause();
    applier(key, value, context);
    call_resume(pause);
  }
}

void collection_init(void) {
  traits[ARRAY] = (Traits){"CFArray", 19, "NSArray", array_finalize, array_equal, array_hash, array_describe};
  traits[DICTIONARY] = (Traits){"CFDictionary", 18, "NSDictionary", dictionary_finalize, dictionary_equal, dictionary_hash, dictionary_describe};
}

/* Classes of Foundation. Strings, arrays and similar objects are those of CoreFoundation. */
#include "objc.h"
#include "record.h"
#include "trip.h"

#include <stdlib.h>
#include <string.h>

/* NSObject */

static const char *class_of(const Object *object) {
  if (is_class(object)) return ((Class *)object->as.extra.state)->name;
  return object->kind == INSTANCE ? object->as.extra.class : traits[object->kind].class;
}

static void object_retain(Message *m) {
  object_own(m->self);
  answer_object(m, m->self);
}

static void object_release(Message *m) { release(ref_of(m->self)); }
static void object_autorelease(Message *m) {
  if (m->self->count - m->self->internal <= 0) breach("over_release", "the caller owns no reference to autorelease");
  else autorelease(m->self);
  answer_object(m, m->self);
}
static void object_retain_count(Message *m) { answer(m, (uint64_t)m->self->count); }
static void object_class(Message *m) { answer_object(m, is_class(m->self) ? m->self : class_object(class_of(m->self))); }
static void object_hash_(Message *m) { answer(m, object_hash(m->self)); }
static void object_self(Message *m) { answer_object(m, m->self); }

static void object_responds(Message *m) {
  const char *selector = (const char *)(uintptr_t)m->arguments[0];
  answer(m, selector && method_of(m->self, selector));
}

static void object_is_equal(Message *m) {
  Object *other = argument(m, 0, ANY, "object");
  answer(m, other && objects_equal(m->self, other));
}

static void object_is_kind(Message *m) {
  Object *wanted = argument(m, 0, INSTANCE, "aClass");
  const char *name = class_of(m->self);
  while (wanted && name && strcmp(name, ((Class *)wanted->as.extra.state)->name)) {
    Class *class = class_named(name);
    name = class ? class->super : NULL;
  }
  answer(m, wanted && name);
}

static void object_description(Message *m) {
  Text text = {0};
  object_describe(m->self, &text);
  answer_autoreleased(m, string_new(text.chars ? text.chars : ""));
  text_free(&text);
}

static void class_alloc(Message *m) { answer_object(m, instance_new(((Class *)m->self->as.extra.state)->name, NULL)); }

/* Key-value coding: an unknown key is an exception. */
static void object_value_for_key(Message *m) {
  Object *key = argument(m, 0, STRING, "key");
  const Method *method = key ? method_of(m->self, string_utf8(key)) : NULL;
  if (!method) {
    fatal("NSUnknownKeyException", "[<%s> valueForUndefinedKey:]: %s", class_of(m->self), key ? string_utf8(key) : "nil");
    return;
  }
  Result inner = {0};
  Message asked = {.self = m->self, .selector = method->selector, .result = &inner};
  method->run(&asked);
  Object *value = NULL;
  if (method->types[0] == '@') value = (Object *)peek((Ref)(uintptr_t)inner.integers[0]);
  else if (method->types[0] == 'd') value = autorelease(number_new_double(inner.reals[0]));
  else if (method->types[0] == 'R' || method->types[0] == 'P') {
    double *numbers = calloc(4, sizeof *numbers);
    memcpy(numbers, inner.reals, sizeof inner.reals);
    value = autorelease(instance_new("NSValue", numbers));
  } else value = autorelease(number_new_integer((int64_t)inner.integers[0]));
  answer_object(m, value);
}

static void value_get_size(Message *m) {
  void *out = (void *)(uintptr_t)m->arguments[0];
  uint64_t size = m->arguments[1];
  if (!out || size > 32) breach("null", "the buffer is NULL or the size too large");
  else memcpy(out, m->self->as.extra.state, size);
}

static void value_rect(Message *m) { memcpy(m->result->reals, m->self->as.extra.state, sizeof m->result->reals); }

/* NSString */

static void string_with_utf8(Message *m) {
  const char *chars = (const char *)(uintptr_t)m->arguments[0];
  if (!chars) {
    fatal("NSInvalidArgumentException", "+[NSString stringWithUTF8String:]: NULL cString");
    return;
  }
  uint16_t *units;
  long length = utf16_from_utf8(chars, strlen(chars), 1, &units);
  answer_autoreleased(m, length < 0 ? NULL : string_new_units(units, length));
  free(units);
}

/* The result of UTF8String lives as long as the pool, because an autoreleased copy owns it. */
static void string_utf8_(Message *m) {
  char *utf8 = utf8_from_utf16(m->self->as.string.units, (size_t)m->self->as.string.length, 1);
  if (!utf8) return;
  Object *kept = autorelease(bytes_new(utf8, (CFIndex)strlen(utf8) + 1));
  free(utf8);
  answer(m, (uint64_t)(uintptr_t)kept->as.bytes.bytes);
}

static void string_length(Message *m) { answer(m, (uint64_t)m->self->as.string.length); }

static void string_bytes_length(Message *m) {
  answer(m, m->arguments[0] == 4 ? strlen(string_utf8(m->self)) : (uint64_t)m->self->as.string.length * 2);
}

static void string_is_equal(Message *m) {
  Object *other = argument(m, 0, STRING, "aString");
  answer(m, other && objects_equal(m->self, other));
}

/* NSArray, NSDictionary, NSNumber, NSData, NSDate, NSURL */

static void array_count(Message *m) { answer(m, (uint64_t)m->self->as.array.count); }

static void array_at(Message *m) {
  if (m->arguments[0] >= (uint64_t)m->self->as.array.count)
    fatal("NSRangeException", "-[NSArray objectAtIndex:]: index %lu beyond bounds of %ld", (unsigned long)m->arguments[0], m->self->as.array.count);
  else answer(m, (uint64_t)(uintptr_t)m->self->as.array.items[m->arguments[0]]);
}

static void array_first(Message *m) {
  if (m->self->as.array.count) answer(m, (uint64_t)(uintptr_t)m->self->as.array.items[0]);
}

static void array_with_object(Message *m) {
  Object *item = argument(m, 0, ANY, "anObject"), *array = array_new(1);
  if (!item) fatal("NSInvalidArgumentException", "+[NSArray arrayWithObject:]: nil");
  else array_push(array, item);
  answer_autoreleased(m, array);
}

static void array_empty(Message *m) {
  Object *array = array_new(0);
  array->changeable = true;
  answer_autoreleased(m, array);
}

static void array_with_objects(Message *m) {
  Ref *items = (Ref *)(uintptr_t)m->arguments[0];
  Object *array = array_new((CFIndex)m->arguments[1]);
  for (uint64_t i = 0; i < m->arguments[1]; i++) {
    Object *item = use(items[i], ANY, "an object");
    if (item) array_push(array, item);
  }
  answer_autoreleased(m, array);
}

static void array_add(Message *m) {
  Object *item = argument(m, 0, ANY, "anObject");
  if (!m->self->changeable) fatal("NSInvalidArgumentException", "-[NSArray addObject:]: the array cannot be changed");
  else if (!item) fatal("NSInvalidArgumentException", "-[NSMutableArray addObject:]: nil");
  else array_push(m->self, item);
}

static void array_contains(Message *m) {
  Object *wanted = argument(m, 0, ANY, "anObject");
  for (CFIndex i = 0; wanted && i < m->self->as.array.count; i++)
    if (array_item(m->self, i) && objects_equal(array_item(m->self, i), wanted)) answer(m, 1);
}

static void dictionary_count(Message *m) { answer(m, (uint64_t)m->self->as.dictionary.count); }

static void dictionary_object_for_key(Message *m) {
  Object *key = argument(m, 0, ANY, "aKey");
  answer_object(m, key ? dictionary_find(m->self, key) : NULL);
}

static void dictionary_keys(Message *m) {
  Object *keys = array_new(m->self->as.dictionary.count);
  for (CFIndex i = 0; i < m->self->as.dictionary.count; i++) array_push(keys, peek(m->self->as.dictionary.keys[i]));
  answer_autoreleased(m, keys);
}

static void number_integer(Message *m) { answer(m, (uint64_t)(int64_t)number_value(m->self)); }
static void number_double(Message *m) { answer_real(m, number_value(m->self)); }
static void number_with_bool(Message *m) { answer_object(m, boolean((m->arguments[0] & 0xff) != 0)); }
static void number_with_integer(Message *m) { answer_autoreleased(m, number_new_integer((int64_t)m->arguments[0])); }
static void number_with_int(Message *m) { answer_autoreleased(m, number_new_integer((int32_t)m->arguments[0])); }

static void data_length(Message *m) { answer(m, (uint64_t)m->self->as.bytes.length); }
static void data_bytes(Message *m) { answer(m, (uint64_t)(uintptr_t)m->self->as.bytes.bytes); }
static void data_with_bytes(Message *m) {
  answer_autoreleased(m, bytes_new((const void *)(uintptr_t)m->arguments[0], (CFIndex)m->arguments[1]));
}
static void date_1970(Message *m) { answer_real(m, m->self->as.holder.number + 978307200.0); }
static void date_2001(Message *m) { answer_real(m, m->self->as.holder.number); }

static void url_file(Message *m) {
  Object *path = argument(m, 0, STRING, "path");
  if (!path) fatal("NSInvalidArgumentException", "+[NSURL fileURLWithPath:]: nil string parameter");
  else answer_autoreleased(m, url_new_path(string_utf8(path)));
}

static void url_with_string(Message *m) {
  Object *string = argument(m, 0, STRING, "URLString");
  if (!string) fatal("NSInvalidArgumentException", "+[NSURL URLWithString:]: nil string parameter");
  else if (!strpbrk(string_utf8(string), " <>\"")) answer_autoreleased(m, url_new(string_utf8(string)));
}

static void url_path_(Message *m) {
  char *path = url_path(m->self);
  answer_autoreleased(m, path ? string_new(path) : NULL);
  free(path);
}

static void url_string(Message *m) { answer_object(m, m->self->as.holder.inner); }

/* NSAutoreleasePool: the older form of push and pop */

void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *token);

static void pool_init(Message *m) {
  void **token = malloc(sizeof *token);
  *token = objc_autoreleasePoolPush();
  m->self->as.extra.state = token;
  answer_object(m, m->self);
}

static void pool_drain(Message *m) {
  void **token = m->self->as.extra.state;
  if (token) objc_autoreleasePoolPop(*token);
  release(ref_of(m->self));
}

/* NSProcessInfo */

static Object *process_info;

static void info_shared(Message *m) {
  if (!process_info) process_info = object_constant(instance_new("NSProcessInfo", NULL));
  answer_object(m, process_info);
}

const char *os_version(void) {
  const char *version = json_string(scene.json, "os");
  return version ? version : "15.5";
}

static void info_version(Message *m) {
  Text text = {0};
  text_printf(&text, "Version %s (Build 24F74)", os_version());
  answer_autoreleased(m, string_new(text.chars));
  text_free(&text);
}

const Method foundation_methods[] = {
    {"NSObject", '-', "retain", "@", object_retain},
    {"NSObject", '-', "release", "v", object_release},
    {"NSObject", '-', "autorelease", "@", object_autorelease},
    {"NSObject", '-', "retainCount", "Q", object_retain_count},
    {"NSObject", '-', "class", "#", object_class},
    {"NSObject", '-', "self", "@", object_self},
    {"NSObject", '-', "init", "@", object_self},
    {"NSObject", '-', "hash", "Q", object_hash_},
    {"NSObject", '-', "description", "@", object_description},
    {"NSObject", '-', "respondsToSelector:", "B:", object_responds},
    {"NSObject", '-', "isEqual:", "B@", object_is_equal},
    {"NSObject", '-', "isKindOfClass:", "B#", object_is_kind},
    {"NSObject", '-', "valueForKey:", "@@", object_value_for_key},
    {"NSObject", '+', "alloc", "@", class_alloc},
    {"NSValue", '-', "getValue:size:", "v^Q", value_get_size},
    {"NSValue", '-', "rectValue", "R", value_rect},
    {"NSString", '+', "stringWithUTF8String:", "@*", string_with_utf8},
    {"NSString", '-', "UTF8String", "*", string_utf8_},
    {"NSString", '-', "length", "Q", string_length},
    {"NSString", '-', "lengthOfBytesUsingEncoding:", "QQ", string_bytes_length},
    {"NSString", '-', "isEqualToString:", "B@", string_is_equal},
    {"NSArray", '+', "array", "@", array_empty},
    {"NSArray", '+', "arrayWithObject:", "@@", array_with_object},
    {"NSArray", '+', "arrayWithObjects:count:", "@^Q", array_with_objects},
    {"NSArray", '-', "count", "Q", array_count},
    {"NSArray", '-', "objectAtIndex:", "@Q", array_at},
    {"NSArray", '-', "firstObject", "@", array_first},
    {"NSArray", '-', "containsObject:", "B@", array_contains},
    {"NSArray", '-', "addObject:", "v@", array_add},
    {"NSDictionary", '-', "count", "Q", dictionary_count},
    {"NSDictionary", '-', "objectForKey:", "@@", dictionary_object_for_key},
    {"NSDictionary", '-', "allKeys", "@", dictionary_keys},
    {"NSNumber", '+', "numberWithBool:", "@B", number_with_bool},
    {"NSNumber", '+', "numberWithInteger:", "@q", number_with_integer},
    {"NSNumber", '+', "numberWithInt:", "@i", number_with_int},
    {"NSNumber", '-', "boolValue", "B", number_integer},
    {"NSNumber", '-', "intValue", "i", number_integer},
    {"NSNumber", '-', "integerValue", "q", number_integer},
    {"NSNumber", '-', "unsignedIntValue", "I", number_integer},
    {"NSNumber", '-', "longLongValue", "q", number_integer},
    {"NSNumber", '-', "doubleValue", "d", number_double},
    {"NSData", '+', "dataWithBytes:length:", "@^Q", data_with_bytes},
    {"NSData", '-', "length", "Q", data_length},
    {"NSData", '-', "bytes", "^", data_bytes},
    {"NSDate", '-', "timeIntervalSince1970", "d", date_1970},
    {"NSDate", '-', "timeIntervalSinceReferenceDate", "d", date_2001},
    {"NSURL", '+', "fileURLWithPath:", "@@", url_file},
    {"NSURL", '+', "URLWithString:", "@@", url_with_string},
    {"NSURL", '-', "path", "@", url_path_},
    {"NSURL", '-', "absoluteString", "@", url_string},
    {"NSAutoreleasePool", '-', "init", "@", pool_init},
    {"NSAutoreleasePool", '-', "drain", "v", pool_drain},
    {"NSAutoreleasePool", '-', "release", "v", pool_drain},
    {"NSProcessInfo", '+', "processInfo", "@", info_shared},
    {"NSProcessInfo", '-', "operatingSystemVersionString", "@", info_version},
    {NULL, 0, NULL, NULL, NULL},
};

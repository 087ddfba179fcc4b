/* The smaller types: data, attributed strings, URLs, errors, bundles, preferences. */
#include "foundation.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* Data */

Object *bytes_new(const void *bytes, CFIndex length) {
  Object *data = object_new(BYTES, false);
  bytes_append(data, bytes, length);
  return data;
}

void bytes_append(Object *data, const void *bytes, CFIndex length) {
  data->as.bytes.bytes = realloc(data->as.bytes.bytes, (size_t)(data->as.bytes.length + length + 1));
  if (length) memcpy(data->as.bytes.bytes + data->as.bytes.length, bytes, (size_t)length);
  data->as.bytes.length += length;
}

static void bytes_finalize(Object *data) { free(data->as.bytes.bytes); }

static bool bytes_equal(const Object *a, const Object *b) {
  return a->as.bytes.length == b->as.bytes.length && !memcmp(a->as.bytes.bytes, b->as.bytes.bytes, (size_t)a->as.bytes.length);
}

static CFHashCode bytes_hash(const Object *data) { return (CFHashCode)data->as.bytes.length; }

static void bytes_describe(const Object *data, Text *text) { text_printf(text, "%ld bytes", data->as.bytes.length); }

API CFTypeID CFDataGetTypeID(void) { return traits[BYTES].type; }

API Ref CFDataCreate(Ref allocator, const uint8_t *bytes, CFIndex length) {
  ENTER;
  (void)allocator;
  if (length < 0 || (length && !bytes)) {
    breach("null", "bytes is NULL or length negative");
    return NULL;
  }
  return ref_of(bytes_new(bytes, length));
}

API Ref CFDataCreateMutable(Ref allocator, CFIndex capacity) {
  ENTER;
  (void)allocator;
  (void)capacity;
  Object *data = bytes_new(NULL, 0);
  data->changeable = true;
  return ref_of(data);
}

API CFIndex CFDataGetLength(Ref ref) {
  ENTER;
  Object *data = use(ref, BYTES, "theData");
  return data ? data->as.bytes.length : 0;
}

API const uint8_t *CFDataGetBytePtr(Ref ref) {
  ENTER;
  Object *data = use(ref, BYTES, "theData");
  return data ? data->as.bytes.bytes : NULL;
}

API void CFDataGetBytes(Ref ref, CFRange range, uint8_t *buffer) {
  ENTER;
  Object *data = use(ref, BYTES, "theData");
  if (!data) return;
  if (range.location < 0 || range.length < 0 || range.location + range.length > data->as.bytes.length)
    breach("range", "{%ld, %ld} is outside %ld bytes", range.location, range.length, data->as.bytes.length);
  else if (!buffer && range.length) breach("null", "buffer is NULL");
  else if (range.length) memcpy(buffer, data->as.bytes.bytes + range.location, (size_t)range.length);
}

/* Attributed strings, URLs and errors contain one other object */

static void holder_finalize(Object *object) {
  object_drop(object->as.holder.inner);
  object_drop(object->as.holder.other);
}

static bool holder_equal(const Object *a, const Object *b) { return objects_equal(a->as.holder.inner, b->as.holder.inner); }
static CFHashCode holder_hash(const Object *object) { return object_hash(object->as.holder.inner); }
static void holder_describe(const Object *object, Text *text) { object_describe(object->as.holder.inner, text); }

static Object *no_attributes;

Object *attributed_new(Object *string) {
  Object *attributed = object_new(ATTRIBUTED, false);
  attributed->as.holder.inner = object_adopt(string);
  return attributed;
}

API CFTypeID CFAttributedStringGetTypeID(void) { return traits[ATTRIBUTED].type; }

API CFIndex CFAttributedStringGetLength(Ref ref) {
  ENTER;
  Object *attributed = use(ref, ATTRIBUTED, "aStr");
  return attributed ? attributed->as.holder.inner->as.string.length : 0;
}

API Ref CFAttributedStringGetString(Ref ref) {
  ENTER;
  Object *attributed = use(ref, ATTRIBUTED, "aStr");
  return attributed ? ref_of(attributed->as.holder.inner) : NULL;
}

void attributed_put(Object *attributed, CFIndex start, CFIndex end, Object *attributes) {
  CFIndex length = attributed->as.holder.inner->as.string.length;
  start = start < 0 ? 0 : start;
  end = end > length ? length : end;
  if (start >= end) return;
  if (!attributed->as.holder.other) attributed->as.holder.other = object_adopt(array_new(3));
  Object *looks = attributed->as.holder.other;
  array_push_new(looks, number_new_integer(start));
  array_push_new(looks, number_new_integer(end));
  array_push(looks, attributes);
}

/** The attributes at one place. The range ends where the next run starts, and may be shorter than possible. */
API Ref CFAttributedStringGetAttributes(Ref ref, CFIndex location, CFRange *effective) {
  ENTER;
  Object *attributed = use(ref, ATTRIBUTED, "aStr");
  if (!attributed) return NULL;
  CFIndex length = attributed->as.holder.inner->as.string.length, from = 0, to = length;
  if (location < 0 || location >= length) {
    breach("range", "%ld is outside %ld characters", location, length);
    return NULL;
  }
  const Object *looks = attributed->as.holder.other;
  Object *found = NULL;
  for (CFIndex i = 0; looks && i < looks->as.array.count; i += 3) {
    CFIndex start = (CFIndex)number_value(array_item(looks, i)), end = (CFIndex)number_value(array_item(looks, i + 1));
    if (location >= start && location < end) found = array_item(looks, i + 2), from = start, to = end;
    else if (location < start && start < to) to = start;
    else if (location >= end && end > from) from = end;
  }
  if (effective) *effective = (CFRange){from, to - from};
  return ref_of(found ? found : no_attributes);
}

Object *url_new(const char *string) {
  Object *url = object_new(URL, false);
  url->as.holder.inner = object_adopt(string_new(string));
  return url;
}

Object *url_new_path(const char *path) {
  Text text = {0};
  text_add(&text, "file://");
  for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
    if (*at > 0x20 && *at < 0x7f && !strchr("%#?\"<>[]\\^`{|}", *at)) text_bytes(&text, at, 1);
    else text_printf(&text, "%%%02X", *at);
  }
  Object *url = url_new(text.chars);
  text_free(&text);
  return url;
}

char *url_path(const Object *url) {
  const char *string = string_utf8(url->as.holder.inner);
  if (strncmp(string, "file://", 7)) return NULL;
  Text text = {0};
  text_add(&text, "");
  for (const char *at = string + 7; *at; at++) {
    unsigned byte = 0;
    char digits[3] = {0};
    if (*at == '%' && at[1] && at[2]) {
      memcpy(digits, at + 1, 2);
      byte = (unsigned)strtoul(digits, NULL, 16);
      at += 2;
    } else byte = (unsigned char)*at;
    char c = (char)byte;
    text_bytes(&text, &c, 1);
  }
  while (text.length > 1 && text.chars[text.length - 1] == '/') text.chars[--text.length] = 0;
  return text.chars;
}

API CFTypeID CFURLGetTypeID(void) { return traits[URL].type; }

API Ref CFURLGetString(Ref ref) {
  ENTER;
  Object *url = use(ref, URL, "anURL");
  return url ? ref_of(url->as.holder.inner) : NULL;
}

/** NULL if the text is not a URL, for example because of a space that is not escaped. */
API Ref CFURLCreateWithString(Ref allocator, Ref string_ref, Ref relative_to) {
  ENTER;
  (void)allocator;
  Object *string = use(string_ref, STRING, "URLString");
  if (!string) return NULL;
  if (relative_to) breach("unsupported", "relative URLs are not modelled");
  const char *chars = string_utf8(string);
  for (const unsigned char *at = (const unsigned char *)chars; *at; at++)
    if (*at <= 0x20 || *at >= 0x7f || strchr("\"<>\\^`{|}", *at)) return NULL;
  return *chars ? ref_of(url_new(chars)) : NULL;
}

static Ref file_url(const char *path, bool directory) {
  Object *url = url_new_path(path);
  if (!directory) return ref_of(url);
  Text text = {0};
  text_printf(&text, "%s/", string_utf8(url->as.holder.inner));
  object_disown(url);
  url = url_new(text.chars);
  text_free(&text);
  return ref_of(url);
}

API Ref CFURLCreateWithFileSystemPath(Ref allocator, Ref path_ref, CFIndex style, Boolean directory) {
  ENTER;
  (void)allocator;
  Object *path = use(path_ref, STRING, "filePath");
  if (!path) return NULL;
  if (style != 0) breach("unsupported", "path style %ld is not modelled", style);
  return file_url(string_utf8(path), directory);
}

API Ref CFURLCreateFromFileSystemRepresentation(Ref allocator, const uint8_t *bytes, CFIndex length, Boolean directory) {
  ENTER;
  (void)allocator;
  if (!bytes || length < 0) {
    breach("null", "buffer is NULL");
    return NULL;
  }
  char *path = strndup((const char *)bytes, (size_t)length);
  Ref url = file_url(path, directory);
  free(path);
  return url;
}

API Ref CFURLCopyFileSystemPath(Ref ref, CFIndex style) {
  ENTER;
  (void)style;
  Object *url = use(ref, URL, "anURL");
  char *path = url ? url_path(url) : NULL;
  Object *string = path ? string_new(path) : NULL;
  free(path);
  return ref_of(string);
}

API Boolean CFURLGetFileSystemRepresentation(Ref ref, Boolean resolve, uint8_t *buffer, CFIndex room) {
  ENTER;
  (void)resolve;
  Object *url = use(ref, URL, "url");
  char *path = url ? url_path(url) : NULL;
  bool fits = path && buffer && (CFIndex)strlen(path) < room;
  if (fits) strcpy((char *)buffer, path);
  free(path);
  return fits;
}

API CFTypeID CFErrorGetTypeID(void) { return traits[ERROR_].type; }

API CFIndex CFErrorGetCode(Ref ref) {
  ENTER;
  Object *error = use(ref, ERROR_, "err");
  return error ? (CFIndex)error->as.holder.number : 0;
}

API Ref CFErrorCopyDescription(Ref ref) {
  ENTER;
  Object *error = use(ref, ERROR_, "err");
  return error ? ref_of(object_own(error->as.holder.inner)) : NULL;
}

/* Descriptions */

API Ref CFCopyDescription(Ref ref) {
  ENTER;
  Object *object = use(ref, ANY, "cf");
  if (!object) return NULL;
  Text text = {0};
  object_describe(object, &text);
  Object *string = string_new(text.chars);
  text_free(&text);
  return ref_of(string);
}

API Ref CFCopyTypeIDDescription(CFTypeID type) {
  ENTER;
  for (int kind = 1; kind < KIND_COUNT; kind++)
    if (traits[kind].name && traits[kind].type == type) return ref_of(string_new(traits[kind].name));
  return NULL;
}

/** No preference is set in any scene. */
API Ref CFPreferencesCopyAppValue(Ref key, Ref application) {
  ENTER;
  use(key, STRING, "key");
  use(application, STRING, "applicationID");
  return NULL;
}

API Ref kCFAllocatorDefault, kCFAllocatorSystemDefault, kCFAllocatorNull;
API Ref kCFPreferencesCurrentApplication;

void value_init(void) {
  no_attributes = object_constant(dictionary_new());
  traits[BYTES] = (Traits){"CFData", 20, "NSData", bytes_finalize, bytes_equal, bytes_hash, bytes_describe};
  traits[ATTRIBUTED] = (Traits){"CFAttributedString", 60, "NSAttributedString", holder_finalize, holder_equal, holder_hash, holder_describe};
  traits[URL] = (Traits){"CFURL", 29, "NSURL", holder_finalize, holder_equal, holder_hash, holder_describe};
  traits[ERROR_] = (Traits){"CFError", 27, "NSError", holder_finalize, NULL, NULL, holder_describe};
  traits[ALLOCATOR] = (Traits){"CFAllocator", 2, "NSObject", NULL, NULL, NULL, NULL};
  kCFAllocatorSystemDefault = ref_of(object_constant(object_new(ALLOCATOR, false)));
  kCFAllocatorNull = ref_of(object_constant(object_new(ALLOCATOR, false)));
  kCFPreferencesCurrentApplication = string_constant("kCFPreferencesCurrentApplication");
}

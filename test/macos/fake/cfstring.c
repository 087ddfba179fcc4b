#include "foundation.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

/* A short ASCII string is a tagged reference, as on a Mac: the same text has the same reference. */
#define TAGGED_LENGTH 8

static Object **interned;
static size_t interned_count, interned_room;

static CFHashCode hash_units(const uint16_t *units, CFIndex length) {
  CFHashCode hash = 14695981039346656037u;
  for (CFIndex i = 0; i < length; i++) hash = (hash ^ units[i]) * 1099511628211u;
  return hash ^ hash >> 29;
}

static bool same_units(const Object *string, const uint16_t *units, CFIndex length) {
  return string->as.string.length == length && !memcmp(string->as.string.units, units, (size_t)length * sizeof *units);
}

static Object **intern_slot(const uint16_t *units, CFIndex length) {
  size_t at = hash_units(units, length) & (interned_room - 1);
  while (interned[at] && !same_units(interned[at], units, length)) at = (at + 1) & (interned_room - 1);
  return &interned[at];
}

static void intern_grow(void) {
  Object **old = interned;
  size_t room = interned_room;
  interned_room = room ? room * 4 : 1024;
  interned = calloc(interned_room, sizeof *interned);
  for (size_t i = 0; i < room; i++)
    if (old[i]) *intern_slot(old[i]->as.string.units, old[i]->as.string.length) = old[i];
  free(old);
}

static Object *plain_new(const uint16_t *units, CFIndex length, bool tagged) {
  Object *string = object_new(STRING, tagged);
  string->as.string.length = length;
  string->as.string.units = malloc((size_t)(length + 1) * sizeof *units);
  memcpy(string->as.string.units, units, (size_t)length * sizeof *units);
  return string;
}

Object *string_new_units(const uint16_t *units, CFIndex length) {
  bool tagged = length <= TAGGED_LENGTH;
  for (CFIndex i = 0; tagged && i < length; i++) tagged = units[i] < 0x80;
  if (!tagged) return plain_new(units, length, false);
  if (interned_count * 2 >= interned_room) intern_grow();
  Object **slot = intern_slot(units, length);
  if (*slot) return object_own(*slot);
  interned_count++;
  return *slot = plain_new(units, length, true);
}

Object *string_new(const char *utf8) {
  uint16_t *units;
  long length = utf16_from_utf8(utf8, strlen(utf8), 0, &units);
  if (length < 0) fatal("scene", "a string of the scene is not UTF-8: %s", utf8);
  Object *string = string_new_units(units, length);
  free(units);
  return string;
}

Ref string_constant(const char *utf8) {
  uint16_t *units;
  long length = utf16_from_utf8(utf8, strlen(utf8), 1, &units);
  Object *string = object_constant(plain_new(units, length, false));
  free(units);
  return ref_of(string);
}

const char *string_utf8(const Object *string) {
  Object *cached = (Object *)string; /* only the cache changes */
  if (!string->as.string.utf8)
    cached->as.string.utf8 = utf8_from_utf16(string->as.string.units, (size_t)string->as.string.length, 0);
  return string->as.string.utf8;
}

bool string_is(const Object *string, const char *utf8) {
  return string && string->kind == STRING && !strcmp(string_utf8(string), utf8);
}

static void string_finalize(Object *string) {
  if (string->tagged) return; /* the same text may be asked for again */
  free(string->as.string.units);
  free(string->as.string.utf8);
}

static bool string_equal(const Object *a, const Object *b) {
  return same_units(a, b->as.string.units, b->as.string.length);
}

static CFHashCode string_hash(const Object *string) {
  return hash_units(string->as.string.units, string->as.string.length);
}

static void string_describe(const Object *string, Text *text) { text_add(text, string_utf8(string)); }

void string_init(void) {
  traits[STRING] = (Traits){"CFString", 7, "NSString", string_finalize, string_equal, string_hash, string_describe};
}

static bool ascii_only(const Object *string) {
  for (CFIndex i = 0; i < string->as.string.length; i++)
    if (string->as.string.units[i] >= 0x80) return false;
  return true;
}

/** The bytes of one code point; 0 if the encoding does not have it. */
static int encode(uint32_t point, uint32_t encoding, uint8_t *out) {
  bool surrogate = point >= 0xd800 && point < 0xe000;
  switch (encoding) {
    case kCFStringEncodingMacRoman: /* its upper half is not modelled */
    case kCFStringEncodingASCII:
      if (point >= 0x80) return 0;
      out[0] = (uint8_t)point;
      return 1;
    case kCFStringEncodingISOLatin1:
      if (point >= 0x100) return 0;
      out[0] = (uint8_t)point;
      return 1;
    case kCFStringEncodingUTF8: {
      if (surrogate) return 0;
      uint16_t units[2] = {(uint16_t)point, 0};
      if (point >= 0x10000) {
        units[0] = (uint16_t)(0xd7c0 + (point >> 10));
        units[1] = (uint16_t)(0xdc00 | (point & 0x3ff));
      }
      char *utf8 = utf8_from_utf16(units, point >= 0x10000 ? 2 : 1, 1);
      int length = point ? (int)strlen(utf8) : 1;
      memcpy(out, utf8, (size_t)length);
      free(utf8);
      return length;
    }
    case kCFStringEncodingUTF16:
    case kCFStringEncodingUTF16LE:
    case kCFStringEncodingUTF16BE: {
      int count = point >= 0x10000 ? 2 : 1;
      uint16_t units[2] = {(uint16_t)point, 0};
      if (count == 2) {
        units[0] = (uint16_t)(0xd7c0 + (point >> 10));
        units[1] = (uint16_t)(0xdc00 | (point & 0x3ff));
      }
      for (int i = 0; i < count; i++) {
        bool big = encoding == kCFStringEncodingUTF16BE;
        out[i * 2 + big] = (uint8_t)units[i];
        out[i * 2 + !big] = (uint8_t)(units[i] >> 8);
      }
      return count * 2;
    }
    case kCFStringEncodingUTF32:
    case kCFStringEncodingUTF32LE:
      for (int i = 0; i < 4; i++) out[i] = (uint8_t)(point >> (8 * i));
      return 4;
    default:
      breach("unsupported", "string encoding 0x%x is not modelled", encoding);
      return 0;
  }
}

static Object *decode(const uint8_t *bytes, CFIndex length, uint32_t encoding) {
  uint16_t *units = NULL;
  long count = -1;
  if (encoding == kCFStringEncodingUTF8) count = utf16_from_utf8((const char *)bytes, (size_t)length, 1, &units);
  else if (encoding == kCFStringEncodingASCII || encoding == kCFStringEncodingISOLatin1 || encoding == kCFStringEncodingMacRoman) {
    units = malloc((size_t)(length + 1) * sizeof *units);
    for (count = 0; count < length; count++) {
      units[count] = bytes[count];
      if (bytes[count] < 0x80 || encoding == kCFStringEncodingISOLatin1) continue;
      free(units);
      return NULL;
    }
  } else if (encoding == kCFStringEncodingUTF16 || encoding == kCFStringEncodingUTF16LE || encoding == kCFStringEncodingUTF16BE) {
    bool big = encoding == kCFStringEncodingUTF16BE;
    count = length / 2;
    units = malloc((size_t)(count + 1) * sizeof *units);
    for (long i = 0; i < count; i++) units[i] = (uint16_t)(bytes[i * 2 + big] | bytes[i * 2 + !big] << 8);
  } else breach("unsupported", "string encoding 0x%x is not modelled", encoding);
  if (count < 0) return NULL;
  Object *string = string_new_units(units, count);
  free(units);
  return string;
}

API CFTypeID CFStringGetTypeID(void) { return traits[STRING].type; }

API Ref CFStringCreateWithCString(Ref allocator, const char *chars, uint32_t encoding) {
  ENTER;
  (void)allocator;
  if (!chars) {
    breach("null", "cStr is NULL");
    return NULL;
  }
  return ref_of(decode((const uint8_t *)chars, (CFIndex)strlen(chars), encoding));
}

API Ref CFStringCreateWithBytes(Ref allocator, const uint8_t *bytes, CFIndex length, uint32_t encoding, Boolean external) {
  ENTER;
  (void)allocator;
  if ((!bytes && length) || length < 0) {
    breach("null", "bytes is NULL or numBytes negative");
    return NULL;
  }
  if (external && encoding == kCFStringEncodingUTF16 && length >= 2) {
    if (bytes[0] == 0xff && bytes[1] == 0xfe) return ref_of(decode(bytes + 2, length - 2, kCFStringEncodingUTF16LE));
    if (bytes[0] == 0xfe && bytes[1] == 0xff) return ref_of(decode(bytes + 2, length - 2, kCFStringEncodingUTF16BE));
  }
  return ref_of(decode(bytes, length, encoding));
}

API Ref CFStringCreateWithCharacters(Ref allocator, const UniChar *units, CFIndex length) {
  ENTER;
  (void)allocator;
  if ((!units && length) || length < 0) {
    breach("null", "chars is NULL or numChars negative");
    return NULL;
  }
  return ref_of(string_new_units(units, length));
}

API Ref CFStringCreateCopy(Ref allocator, Ref ref) {
  ENTER;
  (void)allocator;
  Object *string = use(ref, STRING, "theString");
  return string ? ref_of(object_own(string)) : NULL;
}

API CFIndex CFStringGetLength(Ref ref) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  return string ? string->as.string.length : 0;
}

static bool range_fits(const Object *string, CFRange range) {
  if (range.location >= 0 && range.length >= 0 && range.location + range.length <= string->as.string.length) return true;
  breach("range", "{%ld, %ld} is outside a string of length %ld", range.location, range.length, string->as.string.length);
  return false;
}

API void CFStringGetCharacters(Ref ref, CFRange range, UniChar *buffer) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  if (!string || !range_fits(string, range)) return;
  if (!buffer && range.length) breach("null", "buffer is NULL");
  else if (range.length) memcpy(buffer, string->as.string.units + range.location, (size_t)range.length * sizeof *buffer);
}

/* On a Mac, ASCII strings are stored as bytes, so there are no UniChars to point at. */
API const UniChar *CFStringGetCharactersPtr(Ref ref) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  return !string || ascii_only(string) ? NULL : string->as.string.units;
}

API const char *CFStringGetCStringPtr(Ref ref, uint32_t encoding) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  if (!string || string->tagged || !ascii_only(string)) return NULL;
  bool fits = encoding == kCFStringEncodingUTF8 || encoding == kCFStringEncodingASCII || encoding == kCFStringEncodingMacRoman;
  return fits ? string_utf8(string) : NULL;
}

static CFIndex get_bytes(const Object *string, CFRange range, uint32_t encoding, uint8_t loss, uint8_t *buffer, CFIndex room, CFIndex *used) {
  const uint16_t *units = string->as.string.units;
  CFIndex at = range.location, end = range.location + range.length, filled = 0;
  while (at < end) {
    uint32_t point = units[at];
    int step = 1;
    if (point >= 0xd800 && point < 0xdc00 && at + 1 < end && units[at + 1] >= 0xdc00 && units[at + 1] < 0xe000) {
      point = 0x10000 + ((point - 0xd800) << 10) + (units[at + 1] - 0xdc00u);
      step = 2;
    }
    uint8_t bytes[4];
    int length = encode(point, encoding, bytes);
    if (!length && !loss) break;
    if (!length) {
      bytes[0] = loss;
      length = 1;
    }
    if (buffer && filled + length > room) break;
    if (buffer) memcpy(buffer + filled, bytes, (size_t)length);
    filled += length;
    at += step;
  }
  if (used) *used = filled;
  return at - range.location;
}

API CFIndex CFStringGetBytes(Ref ref, CFRange range, uint32_t encoding, uint8_t loss, Boolean external, uint8_t *buffer, CFIndex room, CFIndex *used) {
  ENTER;
  (void)external;
  if (used) *used = 0;
  Object *string = use(ref, STRING, "theString");
  if (!string || !range_fits(string, range)) return 0;
  return get_bytes(string, range, encoding, loss, buffer, room, used);
}

API Boolean CFStringGetCString(Ref ref, char *buffer, CFIndex room, uint32_t encoding) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  if (!string) return 0;
  if (!buffer || room < 1) {
    breach("null", "buffer is NULL or has no room");
    return 0;
  }
  CFIndex used, length = string->as.string.length;
  CFIndex converted = get_bytes(string, (CFRange){0, length}, encoding, 0, (uint8_t *)buffer, room - 1, &used);
  buffer[used] = 0;
  return converted == length;
}

API uint32_t CFStringGetFastestEncoding(Ref ref) {
  ENTER;
  Object *string = use(ref, STRING, "theString");
  return !string || ascii_only(string) ? kCFStringEncodingASCII : kCFStringEncodingUTF16;
}

API CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length, uint32_t encoding) {
  switch (encoding) {
    case kCFStringEncodingUTF8: return length * 3;
    case kCFStringEncodingUTF16:
    case kCFStringEncodingUTF16LE:
    case kCFStringEncodingUTF16BE: return length * 2;
    case kCFStringEncodingUTF32:
    case kCFStringEncodingUTF32LE: return length * 4;
    default: return length;
  }
}

API CFIndex CFStringCompare(Ref a, Ref b, unsigned long options) {
  ENTER;
  Object *first = use(a, STRING, "theString1"), *second = use(b, STRING, "theString2");
  if (!first || !second) return 0;
  CFIndex long_one = first->as.string.length, long_two = second->as.string.length;
  for (CFIndex i = 0; i < long_one && i < long_two; i++) {
    uint16_t x = first->as.string.units[i], y = second->as.string.units[i];
    if (options & 1) { /* kCFCompareCaseInsensitive, ASCII only */
      if (x >= 'A' && x <= 'Z') x |= 0x20;
      if (y >= 'A' && y <= 'Z') y |= 0x20;
    }
    if (x != y) return x < y ? -1 : 1;
  }
  return (long_one > long_two) - (long_one < long_two);
}

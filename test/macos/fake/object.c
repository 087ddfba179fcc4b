#include "object.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* All objects are in one reserved range of addresses. So any number can be checked as a reference without a read of
   foreign memory. Slots are never used again. */
#define MAGIC 0xf00dfacau
#define ROOM ((size_t)4 << 30)
#define TAG ((uintptr_t)1 << 63)
#define TAG_LOW 5u /* a tagged reference that went through a double loses these bits */

Traits traits[KIND_COUNT];

static Object *arena;
static size_t made, freed;

void object_init(void) {
  arena = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) abort();
}

Object *object_new(Kind kind, bool tagged) {
  if ((made + 1) * sizeof(Object) > ROOM) fatal("memory", "more objects than this library has room for");
  Object *object = &arena[made++];
  object->magic = MAGIC;
  object->kind = (uint8_t)kind;
  object->tagged = tagged;
  object->count = 1;
  object->creator = call_symbol();
  return object;
}

Ref ref_of(const Object *object) {
  if (!object) return NULL;
  if (!object->tagged) return object;
  return (Ref)(TAG | (uintptr_t)(object - arena) << 3 | TAG_LOW);
}

Object *object_constant(Object *object) {
  object->internal = object->count;
  return object_hold(object);
}

Object *object_own(Object *object) {
  object->count++;
  object->creator = call_symbol();
  return object;
}

Object *object_hold(Object *object) {
  object->count++;
  object->internal++;
  return object;
}

static void lose(Object *object) {
  if (--object->count > 0) return;
  freed++;
  /* Releases its members now. Borrowed references to them are invalid from here on. */
  if (traits[object->kind].finalize) traits[object->kind].finalize(object);
}

void object_disown(Object *object) { lose(object); }

void object_drop(Object *object) {
  if (!object) return;
  object->internal--;
  lose(object);
}

Object *object_adopt(Object *object) {
  object->internal++;
  return object;
}

Object *object_hand_over(Object *object) {
  object->internal--;
  object->creator = call_symbol();
  return object;
}

static Object *find(Ref ref) {
  uintptr_t address = (uintptr_t)ref;
  size_t index;
  if (address & TAG) {
    if ((address & 7) != TAG_LOW) return NULL;
    index = (address & ~TAG) >> 3;
  } else {
    uintptr_t offset = address - (uintptr_t)arena;
    if (address < (uintptr_t)arena || offset % sizeof(Object)) return NULL;
    index = offset / sizeof(Object);
  }
  if (index >= made) return NULL;
  return arena[index].tagged == (address >> 63) ? &arena[index] : NULL;
}

Object *peek(Ref ref) {
  Object *object = ref ? find(ref) : NULL;
  return object && object->count > 0 ? object : NULL;
}

Object *use(Ref ref, Kind kind, const char *argument) {
  if (!ref) {
    breach("null", "%s is NULL", argument);
    return NULL;
  }
  Object *object = find(ref);
  if (!object) {
    breach("invalid_pointer", "%s %p is not an object", argument, ref);
    return NULL;
  }
  if (object->count <= 0) {
    breach("use_after_free", "%s is a freed %s made by %s", argument, traits[object->kind].name, object->creator);
    return NULL;
  }
  if (kind != ANY && object->kind != kind) {
    breach("wrong_type", "%s is a %s, not a %s", argument, traits[object->kind].name, traits[kind].name);
    return NULL;
  }
  return object;
}

bool objects_equal(const Object *a, const Object *b) {
  if (a == b) return true;
  return a->kind == b->kind && traits[a->kind].equal && traits[a->kind].equal(a, b);
}

CFHashCode object_hash(const Object *object) {
  return traits[object->kind].hash ? traits[object->kind].hash(object) : (CFHashCode)(uintptr_t)object >> 4;
}

void object_describe(const Object *object, Text *text) {
  if (traits[object->kind].describe) traits[object->kind].describe(object, text);
  else text_printf(text, "<%s %p>", traits[object->kind].name, ref_of(object));
}

/* Objects that were alive at the last mark. Only these are searched: a long run makes millions of objects. */
static Object **survivors;
static size_t survivor_count, marked_made;

void objects_mark(void) {
  survivors = realloc(survivors, (survivor_count + made - marked_made) * sizeof *survivors + 1);
  if (!survivors) abort();
  size_t count = 0;
  for (size_t i = 0; i < survivor_count; i++)
    if (survivors[i]->count > 0) survivors[count++] = survivors[i];
  for (size_t i = marked_made; i < made; i++)
    if (arena[i].count > 0) survivors[count++] = &arena[i];
  survivor_count = count;
  marked_made = made;
  for (size_t i = 0; i < count; i++) survivors[i]->marked = survivors[i]->count - survivors[i]->internal;
}

void leaks_print(Text *text) {
  Text value = {0};
  const char *separator = "";
  text_add(text, "[");
  for (size_t i = 0; i < survivor_count + made - marked_made; i++) {
    const Object *object = i < survivor_count ? survivors[i] : &arena[marked_made + i - survivor_count];
    int32_t outside = object->count - object->internal - object->marked;
    if (object->count <= 0 || outside <= 0) continue;
    text_clear(&value);
    object_describe(object, &value);
    text_printf(text, "%s{\"type\":\"%s\",\"creator\":\"%s\",\"count\":%d,\"value\":", separator,
                traits[object->kind].name, object->creator, outside);
    text_quote(text, value.chars ? value.chars : "");
    text_add(text, "}");
    separator = ",";
  }
  text_add(text, "]");
  text_free(&value);
}

void objects_print(Text *text) { text_printf(text, "{\"made\":%zu,\"live\":%zu}", made, made - freed); }

API Ref CFRetain(Ref ref) {
  ENTER;
  Object *object = use(ref, ANY, "cf");
  if (object) object_own(object);
  return ref;
}

/** Called by CFRelease, -release and the Release functions of CoreGraphics. */
void release(Ref ref) {
  Object *object = use(ref, ANY, "cf");
  if (!object) return;
  if (object->count - object->internal <= 0) {
    breach("over_release", "the caller owns no reference to this %s made by %s", traits[object->kind].name, object->creator);
    return;
  }
  object_disown(object);
}

API void CFRelease(Ref ref) {
  ENTER;
  release(ref);
}

API CFIndex CFGetRetainCount(Ref ref) {
  ENTER;
  Object *object = use(ref, ANY, "cf");
  return object ? object->count : 0;
}

API CFTypeID CFGetTypeID(Ref ref) {
  ENTER;
  Object *object = use(ref, ANY, "cf");
  return object ? traits[object->kind].type : 0;
}

API Boolean CFEqual(Ref a, Ref b) {
  ENTER;
  Object *first = use(a, ANY, "cf1"), *second = use(b, ANY, "cf2");
  return first && second && objects_equal(first, second);
}

API CFHashCode CFHash(Ref ref) {
  ENTER;
  Object *object = use(ref, ANY, "cf");
  return object ? object_hash(object) : 0;
}

API Ref CFGetAllocator(Ref ref) {
  ENTER;
  use(ref, ANY, "cf");
  return NULL;
}

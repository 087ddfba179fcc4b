/* Reference-counted objects that remember their owners, and remain as tombstones. */
#ifndef OBJECT_H
#define OBJECT_H

#include "apple.h"
#include "text.h"

typedef enum {
  ANY, STRING, NUMBER, BOOLEAN, NUL, ARRAY, DICTIONARY, BYTES, ATTRIBUTED, URL, DATE, ERROR_, BUNDLE, ALLOCATOR,
  RUN_LOOP, SOURCE, MACH_PORT, ELEMENT, AX_VALUE, OBSERVER, EVENT, EVENT_SOURCE, IMAGE, PROVIDER, CONTEXT,
  COLOR_SPACE, COLOR, DESTINATION, IMAGE_SOURCE, DISPLAY_MODE, INPUT_SOURCE, INSTANCE, KIND_COUNT,
} Kind;

typedef struct Object Object;

typedef struct {
  const char *name;  /* as CFCopyTypeIDDescription says it */
  CFTypeID type;
  const char *class; /* its class for objc_msgSend */
  void (*finalize)(Object *object);
  bool (*equal)(const Object *a, const Object *b);
  CFHashCode (*hash)(const Object *object);
  void (*describe)(const Object *object, Text *text);
} Traits;

struct Object {
  uint32_t magic;
  uint8_t kind;
  bool tagged, changeable;
  int32_t count;    /* all references; 0 is a tombstone */
  int32_t internal; /* those held by containers, pools and this library itself */
  int32_t marked;   /* the caller's references at the last mark */
  const char *creator;
  union {
    struct { uint16_t *units; CFIndex length; char *utf8; } string;
    struct { double real; int64_t integer; bool floating; uint8_t type; } number;
    struct { Ref *items; CFIndex count, room; bool retains; } array;
    struct { Ref *keys, *values; CFIndex count, room; int32_t *index; long slots; bool retains_keys, retains_values; } dictionary;
    struct { uint8_t *bytes; CFIndex length; } bytes;
    struct { int pid; uint64_t node; unsigned generation; float timeout; } element;
    struct { uint32_t type; double numbers[4]; int64_t integers[2]; } ax_value;
    struct { Object *inner, *other; double number; } holder;
    struct { void *state; const char *class; } extra;
  } as;
};

extern Traits traits[KIND_COUNT];

/** The caller owns the object once. `tagged`: the reference has bit 63 set, and low bits that a double loses. */
Object *object_new(Kind kind, bool tagged);
Ref ref_of(const Object *object);
/** Lives as long as the library, and is never a leak. */
Object *object_constant(Object *object);

/** Adds or removes a reference of the caller. */
Object *object_own(Object *object);
void object_disown(Object *object);
/** Adds or removes a reference of this library: of a container, a pool or a scene. */
Object *object_hold(Object *object);
void object_drop(Object *object);
/** Turns the caller's reference into ours, and back. */
Object *object_adopt(Object *object);
Object *object_hand_over(Object *object);

/** The live object of a reference. If there is none, records the violation and returns NULL. */
Object *use(Ref ref, Kind kind, const char *argument);
/** The same without a record. */
Object *peek(Ref ref);
bool objects_equal(const Object *a, const Object *b);
CFHashCode object_hash(const Object *object);
void object_describe(const Object *object, Text *text);

void objects_mark(void);
void leaks_print(Text *text);
void objects_print(Text *text);
void object_init(void);

#endif

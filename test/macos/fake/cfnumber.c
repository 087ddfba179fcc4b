#include "foundation.h"
#include "record.h"

#include <math.h>
#include <string.h>

API Ref kCFBooleanTrue, kCFBooleanFalse, kCFNull;

static Object *truth, *falsehood;

Object *boolean(bool value) { return value ? truth : falsehood; }

/* Small integers are tagged references, one for each type and value. */
#define SMALL 4096
static Object *small[kCFNumberSInt64Type + 1][2 * SMALL];

static Object *number_new(double real, int64_t integer, bool floating, uint8_t type, bool tagged) {
  Object *number = object_new(NUMBER, tagged);
  number->as.number.real = real;
  number->as.number.integer = integer;
  number->as.number.floating = floating;
  number->as.number.type = type;
  return number;
}

static Object *integer_new(int64_t value, uint8_t type) {
  if (value < -SMALL || value >= SMALL) return number_new((double)value, value, false, type, false);
  Object **slot = &small[type][value + SMALL];
  if (*slot) return object_own(*slot);
  return *slot = number_new((double)value, value, false, type, true);
}

Object *number_new_integer(int64_t value) { return integer_new(value, kCFNumberSInt64Type); }
Object *number_new_double(double value) { return number_new(value, (int64_t)value, true, kCFNumberFloat64Type, false); }
double number_value(const Object *number) {
  if (number->kind == BOOLEAN) return number == truth;
  return number->as.number.floating ? number->as.number.real : (double)number->as.number.integer;
}

Object *date_new(double seconds) {
  Object *date = object_new(DATE, false);
  date->as.holder.number = seconds;
  return date;
}

static bool number_equal(const Object *a, const Object *b) {
  if (!a->as.number.floating && !b->as.number.floating) return a->as.number.integer == b->as.number.integer;
  return number_value(a) == number_value(b);
}

static CFHashCode number_hash(const Object *number) {
  return (CFHashCode)(int64_t)number_value(number) * 2654435761u;
}

static void number_describe(const Object *number, Text *text) {
  if (number->as.number.floating) text_printf(text, "%.17g", number->as.number.real);
  else text_printf(text, "%lld", (long long)number->as.number.integer);
}

static void boolean_describe(const Object *value, Text *text) { text_add(text, value == truth ? "true" : "false"); }
static void null_describe(const Object *value, Text *text) {
  (void)value;
  text_add(text, "<null>");
}

static bool date_equal(const Object *a, const Object *b) { return a->as.holder.number == b->as.holder.number; }

void number_init(void) {
  traits[NUMBER] = (Traits){"CFNumber", 22, "NSNumber", NULL, number_equal, number_hash, number_describe};
  traits[BOOLEAN] = (Traits){"CFBoolean", 21, "NSNumber", NULL, NULL, NULL, boolean_describe};
  traits[NUL] = (Traits){"CFNull", 16, "NSNull", NULL, NULL, NULL, null_describe};
  traits[DATE] = (Traits){"CFDate", 42, "NSDate", NULL, date_equal, NULL, NULL};
  truth = object_constant(object_new(BOOLEAN, false));
  falsehood = object_constant(object_new(BOOLEAN, false));
  kCFBooleanTrue = ref_of(truth);
  kCFBooleanFalse = ref_of(falsehood);
  kCFNull = ref_of(object_constant(object_new(NUL, false)));
}

API CFTypeID CFNumberGetTypeID(void) { return traits[NUMBER].type; }
API CFTypeID CFBooleanGetTypeID(void) { return traits[BOOLEAN].type; }
API CFTypeID CFNullGetTypeID(void) { return traits[NUL].type; }
API CFTypeID CFDateGetTypeID(void) { return traits[DATE].type; }

API Boolean CFBooleanGetValue(Ref ref) {
  ENTER;
  Object *value = use(ref, BOOLEAN, "boolean");
  return value == truth;
}

API double CFDateGetAbsoluteTime(Ref ref) {
  ENTER;
  Object *date = use(ref, DATE, "theDate");
  return date ? date->as.holder.number : 0;
}

static CFIndex type_size(CFIndex type) {
  static const uint8_t sizes[] = {0, 1, 2, 4, 8, 4, 8, 1, 2, 4, 8, 8, 4, 8, 8, 8, 8};
  return type > 0 && type <= kCFNumberCGFloatType ? sizes[type] : 0;
}

static bool type_is_float(CFIndex type) {
  return type == kCFNumberFloat32Type || type == kCFNumberFloat64Type || type == kCFNumberFloatType ||
         type == kCFNumberDoubleType || type == kCFNumberCGFloatType;
}

/* CFNumberGetType returns the canonical type, not the one that the number was created with. */
static uint8_t canonical(CFIndex type) {
  static const uint8_t table[] = {0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 4, 5, 6, 4, 4, 6};
  return table[type];
}

API Ref CFNumberCreate(Ref allocator, CFIndex type, const void *value) {
  ENTER;
  (void)allocator;
  if (!value || !type_size(type)) {
    breach(value ? "wrong_type" : "null", "valuePtr %p, theType %ld", value, type);
    return NULL;
  }
  if (type_is_float(type)) {
    float narrow;
    double wide;
    memcpy(&narrow, value, 4);
    if (type_size(type) == 8) memcpy(&wide, value, 8);
    else wide = (double)narrow;
    return ref_of(number_new(wide, (int64_t)wide, true, canonical(type), false));
  }
  int64_t integer = 0;
  switch (type_size(type)) {
    case 1: integer = *(const int8_t *)value; break;
    case 2: { int16_t part; memcpy(&part, value, 2); integer = part; break; }
    case 4: { int32_t part; memcpy(&part, value, 4); integer = part; break; }
    default: memcpy(&integer, value, 8);
  }
  return ref_of(integer_new(integer, canonical(type)));
}

/** Returns false if the value does not fit, and still writes the nearest value. */
API Boolean CFNumberGetValue(Ref ref, CFIndex type, void *out) {
  ENTER;
  Object *object = use(ref, ANY, "number");
  if (!object) return 0;
  /* The real function accepts a CFBoolean. */
  if (object->kind != NUMBER && object->kind != BOOLEAN) return use(ref, NUMBER, "number") != NULL;
  if (!out || !type_size(type)) {
    breach(out ? "wrong_type" : "null", "valuePtr %p, theType %ld", out, type);
    return 0;
  }
  double real = number_value(object);
  int64_t integer = object->kind == BOOLEAN ? object == truth : object->as.number.integer;
  bool floating = object->kind == NUMBER && object->as.number.floating;
  if (type_is_float(type)) {
    float narrow = (float)real;
    if (type_size(type) == 4) memcpy(out, &narrow, 4);
    else memcpy(out, &real, 8);
    return type_size(type) == 8 ? (floating || (int64_t)real == integer) : (double)narrow == real;
  }
  CFIndex size = type_size(type);
  int64_t low = size == 8 ? INT64_MIN : -((int64_t)1 << (size * 8 - 1)), high = size == 8 ? INT64_MAX : ((int64_t)1 << (size * 8 - 1)) - 1;
  memcpy(out, &integer, (size_t)size); /* little endian on both machines */
  return integer >= low && integer <= high && (!floating || floor(real) == real);
}

API CFIndex CFNumberGetType(Ref ref) {
  ENTER;
  Object *number = use(ref, NUMBER, "number");
  return number ? number->as.number.type : 0;
}

API CFIndex CFNumberGetByteSize(Ref ref) {
  ENTER;
  Object *number = use(ref, NUMBER, "number");
  return number ? type_size(number->as.number.type) : 0;
}

API Boolean CFNumberIsFloatType(Ref ref) {
  ENTER;
  Object *number = use(ref, NUMBER, "number");
  return number && number->as.number.floating;
}

API CFIndex CFNumberCompare(Ref a, Ref b, void *context) {
  ENTER;
  (void)context;
  Object *first = use(a, NUMBER, "number"), *second = use(b, NUMBER, "otherNumber");
  if (!first || !second) return 0;
  double x = number_value(first), y = number_value(second);
  return x < y ? -1 : x > y;
}

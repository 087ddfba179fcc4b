#include "accessibility.h"
#include "record.h"

#include <string.h>

Object *ax_value_new(uint32_t type, const double *numbers, const int64_t *integers) {
  Object *value = object_new(AX_VALUE, false);
  value->as.ax_value.type = type;
  int count = type == kAXValueCGRectType ? 4 : 2;
  if (numbers) memcpy(value->as.ax_value.numbers, numbers, (size_t)count * sizeof *numbers);
  if (integers) memcpy(value->as.ax_value.integers, integers, (type == kAXValueAXErrorType ? 1 : 2) * sizeof *integers);
  return value;
}

static bool ax_value_equal(const Object *a, const Object *b) {
  return a->as.ax_value.type == b->as.ax_value.type && !memcmp(a->as.ax_value.numbers, b->as.ax_value.numbers, sizeof a->as.ax_value.numbers) &&
         !memcmp(a->as.ax_value.integers, b->as.ax_value.integers, sizeof a->as.ax_value.integers);
}

static CFHashCode ax_value_hash(const Object *value) { return value->as.ax_value.type; }

static void ax_value_describe(const Object *value, Text *text) {
  text_printf(text, "AXValue of type %u", value->as.ax_value.type);
}

/** Size of each type in the caller's memory. An AXError is an int32_t. */
static size_t size_of(uint32_t type) {
  static const size_t sizes[] = {0, 16, 16, 32, 16, 4};
  return type <= kAXValueAXErrorType ? sizes[type] : 0;
}

API CFTypeID AXValueGetTypeID(void) { return traits[AX_VALUE].type; }

API Ref AXValueCreate(uint32_t type, const void *bytes) {
  ENTER;
  if (!bytes || !size_of(type)) {
    breach(bytes ? "wrong_type" : "null", "theType %u, valuePtr %p", type, bytes);
    return NULL;
  }
  double numbers[4] = {0};
  int64_t integers[2] = {0};
  if (type == kAXValueAXErrorType) {
    int32_t error;
    memcpy(&error, bytes, 4);
    integers[0] = error;
  } else memcpy(type == kAXValueCFRangeType ? (void *)integers : numbers, bytes, size_of(type));
  return ref_of(ax_value_new(type, numbers, integers));
}

API uint32_t AXValueGetType(Ref ref) {
  ENTER;
  Object *value = use(ref, AX_VALUE, "value");
  return value ? value->as.ax_value.type : kAXValueIllegalType;
}

/** False if the value has another type. Then the buffer stays unchanged. */
API Boolean AXValueGetValue(Ref ref, uint32_t type, void *out) {
  ENTER;
  Object *value = use(ref, AX_VALUE, "value");
  if (!value || value->as.ax_value.type != type) return 0;
  if (!out) {
    breach("null", "valuePtr is NULL");
    return 0;
  }
  if (type == kAXValueAXErrorType) {
    int32_t error = (int32_t)value->as.ax_value.integers[0];
    memcpy(out, &error, 4);
  } else if (type == kAXValueCFRangeType) memcpy(out, value->as.ax_value.integers, 16);
  else memcpy(out, value->as.ax_value.numbers, size_of(type));
  return 1;
}

void ax_value_init(void) {
  traits[AX_VALUE] = (Traits){"AXValue", 301, "NSObject", NULL, ax_value_equal, ax_value_hash, ax_value_describe};
}

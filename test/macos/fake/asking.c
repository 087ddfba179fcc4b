/* Parameterized attributes: their questions contain a range, a place or a predicate. */
#include "record.h"
#include "trip.h"
#include "world.h"

#include <string.h>

static AXError search_elements(const Node *node, Object *found, CFIndex limit) {
  for (int i = 0; i < node->count && found->as.array.count < limit; i++) {
    if (!node_shows(node->children[i])) continue;
    array_push_new(found, element_new(node->children[i]));
    search_elements(node->children[i], found, limit);
  }
  return kAXErrorSuccess;
}

static AXError for_predicate(const Node *node, const Object *parameter, Object **answer) {
  Object *limit = parameter->kind == DICTIONARY ? dictionary_get(parameter, "AXResultsLimit") : NULL;
  *answer = array_new(16);
  return search_elements(node, *answer, limit && limit->kind == NUMBER && number_value(limit) >= 0 ? (CFIndex)number_value(limit) : 1000000);
}

/** The part of a text that was asked for; an error if the range is outside the text. */
static AXError part_of(const Node *node, const Object *parameter, Object **part, CFRange *range) {
  if (parameter->kind != AX_VALUE || parameter->as.ax_value.type != kAXValueCFRangeType) return kAXErrorIllegalArgument;
  Object *whole;
  AXError error = attribute_copy(node, "AXValue", SINGLE, &whole);
  if (error) return error;
  *range = (CFRange){parameter->as.ax_value.integers[0], parameter->as.ax_value.integers[1]};
  bool fits = whole->kind == STRING && range->location >= 0 && range->length >= 0 &&
              range->location + range->length <= whole->as.string.length;
  if (fits) *part = string_new_units(whole->as.string.units + range->location, range->length);
  object_disown(whole);
  return fits ? kAXErrorSuccess : kAXErrorIllegalArgument;
}

static AXError for_range(const Node *node, const Object *parameter, Object **answer) {
  CFRange range;
  return part_of(node, parameter, answer, &range);
}

/**
 * "looks" is a list of [start, end, attributes]; other text has no attributes. Wrong answers of apps: "plain" is a
 * string without attributes, "nil" is success without an object, and "half" is the first half of the range.
 */
static AXError for_looks(const Node *node, const Object *parameter, Object **answer) {
  CFRange range;
  Object *part = NULL;
  AXError error = part_of(node, parameter, &part, &range);
  if (error) return error;
  Json *looks = node_get(node, "looks");
  const char *wrong = looks && looks->kind == J_STRING ? looks->string : "";
  if (!strcmp(wrong, "nil")) object_disown(part);
  if (!strcmp(wrong, "plain")) *answer = part;
  if (*wrong && strcmp(wrong, "half")) return kAXErrorSuccess;
  if (*wrong) {
    Object *half = string_new_units(part->as.string.units, range.length / 2);
    object_disown(part);
    part = half;
  }
  *answer = attributed_new(part);
  for (Json *look = looks && !*wrong ? looks->first : NULL; look; look = look->next) {
    Object *attributes = value_new(node, look->first->next->next, SINGLE, &error);
    attributed_put(*answer, (CFIndex)json_at(look, 0) - range.location, (CFIndex)json_at(look, 1) - range.location, attributes);
    object_disown(attributes);
  }
  return kAXErrorSuccess;
}

static bool is_number(const Object *object) { return object && object->kind == NUMBER; }

static bool spans(const Node *cell, const char *key, CFIndex at) {
  Json *span = node_get(cell, key);
  Json *range = span && span->kind == J_OBJECT ? json_get(span, "$range") : NULL;
  return range && at >= (CFIndex)json_at(range, 0) && at < (CFIndex)json_at(range, 0) + (CFIndex)json_at(range, 1);
}

/** A cell that spans several columns or rows answers for each of them, as in WebKit. */
static AXError for_place(const Node *node, const Object *parameter, Object **answer) {
  bool fits = parameter->kind == ARRAY && parameter->as.array.count == 2 && is_number(array_item(parameter, 0)) && is_number(array_item(parameter, 1));
  if (!fits) return kAXErrorIllegalArgument;
  CFIndex column = (CFIndex)number_value(array_item(parameter, 0)), row = (CFIndex)number_value(array_item(parameter, 1));
  for (int i = 0; i < node->count && !*answer; i++) {
    const Node *child = node->children[i];
    if (node_is(child, "AXCell") && spans(child, "AXColumnIndexRange", column) && spans(child, "AXRowIndexRange", row))
      *answer = element_new(child);
  }
  return *answer ? kAXErrorSuccess : kAXErrorNoValue;
}

static bool is_text(const Node *node) { return is_editable(node); }
static bool is_page(const Node *node) { return node_is(node, "AXWebArea"); }
static bool is_cells(const Node *node) { return node_is(node, "AXTable") && node_get(node, "AXColumnCount"); }

static const struct {
  const char *name;
  bool (*fits)(const Node *node);
  AXError (*answer)(const Node *node, const Object *parameter, Object **answer);
} questions[] = {
    {"AXStringForRange", is_text, for_range},
    {"AXAttributedStringForRange", is_text, for_looks},
    {"AXCellForColumnAndRow", is_cells, for_place},
    {"AXUIElementsForSearchPredicate", is_page, for_predicate},
};
#define QUESTIONS (sizeof questions / sizeof *questions)

static bool answers(const Node *node, size_t question) {
  return node && questions[question].fits(node) && !planned_error(node, questions[question].name, "single");
}

API AXError AXUIElementCopyParameterizedAttributeNames(Ref ref, Ref *out) {
  ENTER;
  Trip trip;
  if (!out) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  Object *names = array_new(2);
  for (size_t i = 0; i < QUESTIONS; i++)
    if (answers(trip.node, i)) array_push_new(names, string_new(questions[i].name));
  *out = ref_of(names);
  return kAXErrorSuccess;
}

API AXError AXUIElementCopyParameterizedAttributeValue(Ref ref, Ref attribute, Ref parameter_ref, Ref *out) {
  ENTER;
  const char *name = name_of(attribute, "parameterizedAttribute");
  Object *parameter = parameter_ref ? use(parameter_ref, ANY, "parameter") : NULL;
  Trip trip;
  if (!out || !name || !parameter) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  count_attribute(name);
  if (trip.node && (error = planned_error(trip.node, name, "single"))) return error;
  for (size_t i = 0; i < QUESTIONS; i++) {
    if (strcmp(name, questions[i].name) || !answers(trip.node, i)) continue;
    Object *answer = NULL;
    error = questions[i].answer(trip.node, parameter, &answer);
    *out = answer ? ref_of(answer) : NULL;
    return error;
  }
  return kAXErrorParameterizedAttributeUnsupported;
}

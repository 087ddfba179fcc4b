/* The private bulk read: a whole subtree in one round trip. */
#include "record.h"
#include "trip.h"

#include <string.h>

API Ref kAXUIElementCopyHierarchyArrayAttributesKey, kAXUIElementCopyHierarchyMaxArrayCountKey, kAXUIElementCopyHierarchyMaxDepthKey,
    kAXUIElementCopyHierarchyReturnAttributeErrorsKey, kAXUIElementCopyHierarchySkipInspectionForAttributesKey,
    kAXUIElementCopyHierarchyTruncateStringsKey, kAXUIElementCopyHierarchyResultValueKey, kAXUIElementCopyHierarchyResultCountKey,
    kAXUIElementCopyHierarchyResultErrorKey, kAXUIElementCopyHierarchyIncompleteResultKey;

typedef struct {
  Object *names, *followed, *result;
  long max_depth, max_count, nodes;
  bool errors;
} Walk;

void hierarchy_init(void) {
  kAXUIElementCopyHierarchyArrayAttributesKey = string_constant("AXCHAA");
  kAXUIElementCopyHierarchyMaxArrayCountKey = string_constant("AXCHMAC");
  kAXUIElementCopyHierarchyMaxDepthKey = string_constant("AXCHMD");
  kAXUIElementCopyHierarchyReturnAttributeErrorsKey = string_constant("AXCHRE");
  kAXUIElementCopyHierarchySkipInspectionForAttributesKey = string_constant("AXCHSIA");
  kAXUIElementCopyHierarchyTruncateStringsKey = string_constant("AXTRUNC");
  kAXUIElementCopyHierarchyResultValueKey = string_constant("value");
  kAXUIElementCopyHierarchyResultCountKey = string_constant("count");
  kAXUIElementCopyHierarchyResultErrorKey = string_constant("error");
  kAXUIElementCopyHierarchyIncompleteResultKey = string_constant("incmplt");
}

static bool followed(const Walk *walk, const char *name) {
  if (!walk->followed) return !strcmp(name, "AXChildren");
  for (CFIndex i = 0; i < walk->followed->as.array.count; i++)
    if (string_is(array_item(walk->followed, i), name)) return true;
  return false;
}

/** One attribute's entry: the value, or its error, or the beginning of a long array. */
static Object *entry_new(const Walk *walk, Object *value, AXError error) {
  Object *entry = dictionary_new();
  if (!value) {
    if (walk->errors) dictionary_put_new(entry, "error", number_new_integer(error));
    return entry;
  }
  if (value->kind != ARRAY) {
    dictionary_put_new(entry, "value", value);
    return entry;
  }
  CFIndex count = value->as.array.count;
  dictionary_put_new(entry, "count", number_new_integer(count));
  if (count > walk->max_count) {
    Object *part = array_new(walk->max_count);
    for (CFIndex i = 0; i < walk->max_count; i++) array_push(part, array_item(value, i));
    object_disown(value);
    value = part;
    dictionary_put_new(entry, "incmplt", object_own(boolean(true)));
  }
  dictionary_put_new(entry, "value", value);
  return entry;
}

static void walk_node(Walk *walk, Object *element, long depth) {
  Node *node = element_node(element);
  if (!node || dictionary_find(walk->result, element)) return;
  Object *entries = dictionary_new();
  dictionary_put(walk->result, element, entries);
  walk->nodes++;
  for (CFIndex i = 0; i < walk->names->as.array.count; i++) {
    const char *name = string_utf8(array_item(walk->names, i));
    Object *value;
    count_attribute(name);
    AXError error = attribute_copy(node, name, BATCH, &value);
    Object *entry = entry_new(walk, value, error);
    Object *list = followed(walk, name) && depth < walk->max_depth ? dictionary_get(entry, "value") : NULL;
    for (CFIndex j = 0; list && list->kind == ARRAY && j < list->as.array.count; j++)
      if (array_item(list, j)->kind == ELEMENT) walk_node(walk, array_item(list, j), depth + 1);
    if (value || walk->errors) dictionary_put_new(entries, name, entry);
    else object_disown(entry);
  }
  object_disown(entries);
}

static long option(const Object *options, const char *key, long fallback) {
  Object *value = options ? dictionary_get(options, key) : NULL;
  return value && value->kind == NUMBER ? (long)number_value(value) : fallback;
}

API AXError AXUIElementCopyHierarchy(Ref ref, Ref names_ref, Ref options_ref, Ref *out) {
  ENTER;
  Object *names = names_ref ? use(names_ref, ARRAY, "attributes") : NULL;
  Object *options = options_ref ? use(options_ref, DICTIONARY, "options") : NULL;
  Trip trip;
  if (!names || !names->as.array.count || !out) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  if (!trip.node) return kAXErrorIllegalArgument;
  if (node_flag(trip.node->app->root, "no_hierarchy", false)) return kAXErrorNotImplemented;
  Walk walk = {.names = names, .result = dictionary_new()};
  walk.max_depth = option(options, "AXCHMD", 1000);
  walk.max_count = option(options, "AXCHMAC", 1000000);
  walk.errors = options && dictionary_get(options, "AXCHRE") == boolean(true);
  walk.followed = options ? dictionary_get(options, "AXCHAA") : NULL;
  Object *root = element_new(trip.node);
  walk_node(&walk, root, 0);
  object_disown(root);
  Json *latency = json_get(scene.json, "latency");
  wait_us(json_number(latency, "attribute_us", 0) * (double)(walk.nodes * names->as.array.count));
  *out = ref_of(walk.result);
  return kAXErrorSuccess;
}

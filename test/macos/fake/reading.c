/* Functions that read elements. */
#include "record.h"
#include "trip.h"
#include "world.h"

#include <string.h>

#define MAX_NAMES 128

static AXError system_attribute(const char *name, Object **value) {
  App *front = app_by_pid(scene.front);
  *value = NULL;
  if (!strcmp(name, "AXRole")) *value = string_new("AXSystemWide");
  else if (!strcmp(name, "AXFocusedApplication")) *value = front && front->running ? element_new(front->root) : NULL;
  else if (!strcmp(name, "AXFocusedUIElement")) {
    Node *focused = front ? front->focused : NULL;
    *value = focused ? element_new(focused) : NULL;
  } else return kAXErrorAttributeUnsupported;
  return *value ? kAXErrorSuccess : kAXErrorNoValue;
}

static AXError read_one(const Trip *trip, const char *name, Way way, Object **value) {
  count_attribute(name);
  return trip->node ? attribute_copy(trip->node, name, way, value) : system_attribute(name, value);
}

API AXError AXUIElementCopyAttributeValue(Ref ref, Ref attribute, Ref *out) {
  ENTER;
  const char *name = name_of(attribute, "attribute");
  Trip trip;
  if (!out || !name) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  Object *value;
  error = read_one(&trip, name, SINGLE, &value);
  *out = ref_of(value);
  return error;
}

static Object *placeholder(AXError error) {
  int64_t code = error;
  return ax_value_new(kAXValueAXErrorType, NULL, &code);
}

API AXError AXUIElementCopyMultipleAttributeValues(Ref ref, Ref attributes, uint32_t options, Ref *out) {
  ENTER;
  const char *names[MAX_NAMES];
  Object *list = attributes ? use(attributes, ARRAY, "attributes") : NULL;
  if (!list || !out || list->as.array.count > MAX_NAMES) return kAXErrorIllegalArgument;
  *out = NULL;
  int count = (int)list->as.array.count;
  for (int i = 0; i < count; i++)
    if (!(names[i] = name_of(list->as.array.items[i], "a name"))) return kAXErrorIllegalArgument;
  Trip trip;
  AXError error = travel(ref, names, count, &trip);
  if (error) return error;
  Object *values = array_new(count);
  for (int i = 0; i < count; i++) {
    Object *value;
    error = read_one(&trip, names[i], BATCH, &value);
    if (error && options & 1) {
      object_disown(values);
      return error;
    }
    array_push_new(values, value ? value : placeholder(error));
  }
  *out = ref_of(values);
  return kAXErrorSuccess;
}

API AXError AXUIElementCopyAttributeValues(Ref ref, Ref attribute, CFIndex index, CFIndex most, Ref *out) {
  ENTER;
  const char *name = name_of(attribute, "attribute");
  Trip trip;
  if (!out || !name || index < 0 || most < 1) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  Object *value;
  if ((error = read_one(&trip, name, RANGE, &value))) return error;
  CFIndex count = value->kind == ARRAY ? value->as.array.count : -1;
  if (index > count || (index == count && count > 0)) error = kAXErrorIllegalArgument;
  else {
    Object *part = array_new(most < count - index ? most : count - index);
    for (CFIndex i = index; i < count && i < index + most; i++) array_push(part, array_item(value, i));
    *out = ref_of(part);
  }
  object_disown(value);
  return error;
}

API AXError AXUIElementGetAttributeValueCount(Ref ref, Ref attribute, CFIndex *count) {
  ENTER;
  const char *name = name_of(attribute, "attribute");
  Trip trip;
  if (!count || !name) return kAXErrorIllegalArgument;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  Object *value;
  if ((error = read_one(&trip, name, RANGE, &value))) return error;
  if (value->kind == ARRAY) *count = value->as.array.count;
  else error = kAXErrorIllegalArgument;
  object_disown(value);
  return error;
}

API AXError AXUIElementCopyAttributeNames(Ref ref, Ref *out) {
  ENTER;
  Trip trip;
  if (!out) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  *out = ref_of(trip.node ? attribute_names(trip.node) : array_new(0));
  return kAXErrorSuccess;
}

API AXError AXUIElementIsAttributeSettable(Ref ref, Ref attribute, Boolean *settable) {
  ENTER;
  const char *name = name_of(attribute, "attribute");
  Trip trip;
  if (!settable || !name) return kAXErrorIllegalArgument;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  if (!trip.node) return kAXErrorAttributeUnsupported;
  if (!attribute_supported(trip.node, name)) return absence(trip.node, kAXErrorAttributeUnsupported);
  *settable = node_settable(trip.node, name);
  return kAXErrorSuccess;
}

API AXError AXUIElementCopyActionNames(Ref ref, Ref *out) {
  ENTER;
  Trip trip;
  if (!out) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  Object *names = array_new(4);
  const Json *places[] = {trip.node ? trip.node->own : NULL, trip.node ? trip.node->proto : NULL,
                          trip.node ? trip.node->subrole : NULL, trip.node ? trip.node->role : NULL};
  for (int i = 0; i < 4; i++) {
    Json *actions = places[i] ? json_get(places[i], "actions") : NULL;
    for (Json *action = actions ? actions->first : NULL; action; action = action->next) {
      bool listed = !node_action(trip.node, action->key);
      for (CFIndex j = 0; !listed && j < names->as.array.count; j++) listed = string_is(array_item(names, j), action->key);
      if (!listed) array_push_new(names, string_new(action->key));
    }
  }
  if (!names->as.array.count && trip.node && node_flag(trip.node, "bare", false)) {
    object_disown(names);
    return kAXErrorFailure;
  }
  *out = ref_of(names);
  return kAXErrorSuccess;
}

API AXError AXUIElementCopyActionDescription(Ref ref, Ref action, Ref *out) {
  ENTER;
  const char *name = name_of(action, "action");
  Trip trip;
  if (!out || !name) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, &name, 1, &trip);
  if (error) return error;
  if (!trip.node || !node_action(trip.node, name)) return kAXErrorActionUnsupported;
  *out = ref_of(string_new(strncmp(name, "AX", 2) ? name : name + 2));
  return kAXErrorSuccess;
}

API AXError AXUIElementCopyElementAtPosition(Ref ref, float x, float y, Ref *out) {
  ENTER;
  Trip trip;
  if (!out) return kAXErrorIllegalArgument;
  *out = NULL;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  if (trip.node && trip.node->parent) return kAXErrorIllegalArgument;
  Node *found = node_at(trip.node ? trip.node->app : NULL, (CGPoint){(double)x, (double)y});
  /* A browser answers with the page, and finds the element inside later or never. */
  for (Node *at = found; at; at = at->parent)
    if (node_is(at, "AXWebArea") && !node_flag(at, "hits", false)) found = at;
  if (!found) return kAXErrorNoValue;
  *out = ref_of(element_new(found));
  return kAXErrorSuccess;
}

/** Private, but used by every window tool: the element's window as numbered in CGWindowList. */
API AXError _AXUIElementGetWindow(Ref ref, uint32_t *number) {
  ENTER;
  Trip trip;
  if (!number) return kAXErrorIllegalArgument;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  Node *window = trip.node ? window_of(trip.node) : NULL;
  if (!window) return kAXErrorIllegalArgument;
  *number = window->number;
  return kAXErrorSuccess;
}

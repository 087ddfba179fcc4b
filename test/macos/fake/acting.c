/* Functions that change elements. Each writes a line to the record. */
#include "events.h"
#include "keyboard.h"
#include "record.h"
#include "trip.h"
#include "world.h"

#include <string.h>

/** The code that an action or a write returns, independent of its effect: {"lies": {"AXPress": -25204}}. */
static AXError said_of(const Node *node, const char *name) { return (AXError)json_number(node_get(node, "lies"), name, kAXErrorSuccess); }

static AXError refused(const Node *node, const char *name) {
  Json *planned = json_get(node_get(node, "errors"), name);
  if (!planned) return kAXErrorSuccess;
  return (AXError)(planned->kind == J_NUMBER ? planned->number : json_number(planned, "set", 0));
}

/** Applies the effect now, even if the answer is late, as for a menu that opens. Ignored actions have no effect. */
static const char *deliver(const Trip *trip, const char *name, Json *effect) {
  if (json_has(node_get(trip->node, "ignores"), name) || drops_text(trip->node, name)) {
    json_free(effect);
    return "ignored";
  }
  bool disabled = !node_flag(trip->node, "AXEnabled", true) && !strcmp(json_string(effect, "do"), "perform");
  world_do(effect);
  return disabled ? "disabled" : trip->late_us > 0 ? "late" : "applied";
}

static void record_change(const char *kind, const Trip *trip, const char *what, const char *name, const Json *value, AXError result, const char *effect) {
  Text line = record_open(kind);
  text_printf(&line, ",\"pid\":%d,\"node\":", trip->element ? trip->element->as.element.pid : 0);
  text_quote(&line, trip->node ? node_label(trip->node) : "");
  text_printf(&line, ",\"%s\":", what);
  text_quote(&line, name);
  if (value) {
    text_add(&line, ",\"value\":");
    json_print(&line, value);
  }
  text_printf(&line, ",\"result\":%d,\"effect\":\"%s\"", result, effect);
  record_close(&line);
}

API AXError AXUIElementPerformAction(Ref ref, Ref action) {
  ENTER;
  const char *name = name_of(action, "action"), *happened = "none";
  Trip trip;
  if (!name) return kAXErrorIllegalArgument;
  AXError error = travel(ref, &name, 1, &trip);
  bool reached = trip.node && (!error || trip.late_us > 0);
  if (!error && !trip.node) error = kAXErrorActionUnsupported;
  if (reached && !node_action(trip.node, name)) {
    error = kAXErrorActionUnsupported;
    reached = false;
  }
  if (reached && refused(trip.node, name)) {
    error = refused(trip.node, name);
    reached = false;
  }
  if (reached) {
    Json *effect = effect_new("perform", trip.node);
    json_set(effect, "action", json_new_string(name));
    AXError said = said_of(trip.node, name);
    happened = deliver(&trip, name, effect);
    if (said) error = said;
  }
  record_change("perform", &trip, "action", name, NULL, error, happened);
  return error;
}

/** True if the application accepts this kind of value. */
static bool value_fits(const Node *node, const char *name, const Json *value) {
  static const struct { const char *name, *key; } shapes[] = {{"AXPosition", "$point"}, {"AXSize", "$size"}, {"AXSelectedTextRange", "$range"}};
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, shapes[i].name)) return json_get(value, shapes[i].key) != NULL;
  static const char *const switches[] = {"AXFocused", "AXSelected", "AXMinimized", "AXMain", "AXFrontmost", "AXHidden", "AXExpanded", "AXDisclosing"};
  for (int i = 0; i < 8; i++)
    if (!strcmp(name, switches[i])) return value->kind == J_TRUE || value->kind == J_FALSE || value->kind == J_NUMBER;
  if (!strcmp(name, "AXSelectedText")) return value->kind == J_STRING;
  Json *old = node_get(node, name);
  if (!strcmp(name, "AXValue") && old && old->kind == J_STRING) return value->kind == J_STRING;
  if (!strcmp(name, "AXValue") && old && old->kind == J_NUMBER) return value->kind == J_NUMBER || value->kind == J_TRUE || value->kind == J_FALSE;
  return true;
}

API AXError AXUIElementSetAttributeValue(Ref ref, Ref attribute, Ref value_ref) {
  ENTER;
  const char *name = name_of(attribute, "attribute"), *happened = "none";
  Object *given = value_ref ? use(value_ref, ANY, "value") : NULL;
  Trip trip;
  if (!name || !given) return kAXErrorIllegalArgument;
  Json *value = value_to_json(given);
  AXError error = travel(ref, &name, 1, &trip);
  bool reached = trip.node && (!error || trip.late_us > 0);
  AXError refusal = kAXErrorSuccess;
  if (!trip.node && !error) error = kAXErrorAttributeUnsupported;
  if (reached && !node_settable(trip.node, name)) refusal = kAXErrorAttributeUnsupported;
  else if (reached && refused(trip.node, name)) refusal = refused(trip.node, name);
  else if (reached && !value_fits(trip.node, name, value)) refusal = kAXErrorIllegalArgument;
  if (refusal) error = refusal;
  else if (reached) {
    Json *effect = effect_new("write", trip.node);
    json_set(effect, "attribute", json_new_string(name));
    json_set(effect, "value", json_clone(value));
    AXError said = said_of(trip.node, name);
    happened = deliver(&trip, name, effect);
    if (said) error = said;
  }
  record_change("write", &trip, "attribute", name, value, error, happened);
  json_free(value);
  return error;
}

/** Sends a key to one application, even in the background. Obsolete. Modifiers are separate keys that are held. */
API AXError AXUIElementPostKeyboardEvent(Ref ref, uint16_t character, uint16_t key, Boolean down) {
  ENTER;
  (void)character;
  Trip trip;
  AXError error = travel(ref, NULL, 0, &trip);
  if (error) return error;
  if (trip.node && trip.node->parent) return kAXErrorIllegalArgument;
  Json *event = effect_new("event", NULL);
  json_set(event, "type", json_new_number(down ? KEY_DOWN : KEY_UP));
  json_set(event, "key", json_new_number(key));
  json_set(event, "flags", json_new_number((double)scene.flags));
  bool dead;
  int level = (scene.flags & FLAG_SHIFT ? SHIFT_DOWN : 0) | (scene.flags & FLAG_OPTION ? OPTION_DOWN : 0);
  const char *text = layout_key(layout_named(layout_current()), key, level, &dead);
  json_set(event, "text", json_new_string(dead ? "" : text));
  unsigned flag = modifier_flag(key);
  if (flag) {
    json_set(event, "type", json_new_number(FLAGS_CHANGED));
    json_set(event, "flags", json_new_number((double)(down ? scene.flags | flag : scene.flags & ~(uint64_t)flag)));
  }
  if (trip.node) json_set(event, "pid", json_new_number(trip.node->app->pid));
  Text line = record_open("post");
  text_printf(&line, ",\"via\":\"AXUIElementPostKeyboardEvent\",\"type\":\"%s\",\"key\":%d", down ? "key_down" : "key_up", key);
  record_close(&line);
  world_do(event);
  return kAXErrorSuccess;
}

#include "trip.h"
#include "events.h"
#include "faults.h"
#include "record.h"
#include "world.h"

static double owed_us; /* short waits are paid together: a sleep of microseconds takes far longer */

static double planned_latency(const Node *node, const char *const *names, int count) {
  Json *general = json_get(scene.json, "latency"), *own = node ? node_get(node, "latency") : NULL;
  double us = json_number(general, "call_us", 0) + json_number(general, "attribute_us", 0) * count;
  if (node && node->app) {
    Json *app = json_get(node->app->json, "latency");
    us += json_number(app, "call_us", 0) + json_number(app, "attribute_us", 0) * count;
  }
  if (own && node->parent) us += json_number(own, "call_us", 0);
  for (int i = 0; own && i < count; i++) us += json_number(own, names[i], 0);
  return us;
}

static bool planned_hang(const Node *node, const char *const *names, int count) {
  Json *hang = node ? node_get(node, "hang") : NULL;
  if (!hang) return false;
  if (hang->kind == J_TRUE) return true;
  for (int i = 0; i < count; i++)
    if (json_has(hang, names[i])) return true;
  return false;
}

static void wait_us(double us) {
  owed_us += us;
  if (owed_us < 1000) return;
  double due = owed_us;
  owed_us = 0;
  sleep_us(due);
}

AXError travel(Ref ref, const char *const *names, int count, Trip *trip) {
  *trip = (Trip){0};
  trip->element = use(ref, ELEMENT, "element");
  if (!trip->element) return kAXErrorIllegalArgument;
  for (int i = 0; i < count; i++)
    if (!names[i]) return kAXErrorIllegalArgument;
  events_turn();
  world_turn();
  world_called();
  round_trips++;
  float timeout = trip->element->as.element.timeout > 0 ? trip->element->as.element.timeout : process_timeout;
  Fault fault = fault_now(call_symbol(), names, count);
  if (fault.hang) {
    sleep_us((double)timeout * 1e6);
    return kAXErrorCannotComplete;
  }
  if (fault.dead && element_node(trip->element) && trip->element->as.element.node) node_remove(element_node(trip->element));
  else if (fault.error) return fault.error;
  if (!trusted("accessibility")) return kAXErrorAPIDisabled;
  if (trip->element->as.element.pid == SYSTEM_WIDE) return kAXErrorSuccess;

  App *app = element_app(trip->element);
  if (!app) return kAXErrorCannotComplete;
  Node *node = element_node(trip->element);
  /* An application that has just started does not have an accessibility server yet, and answers at once. */
  if (app->running && now_ms() - app->started_ms < json_number(app->json, "ready_ms", 0)) return kAXErrorCannotComplete;
  if (app->running && (app->hung || planned_hang(node, names, count))) {
    /* The application may come back while we wait. Small steps, because another process can wake it. */
    for (double left = (double)timeout * 1e6; left > 0; left -= 20000) {
      sleep_us(left < 20000 ? left : 20000);
      world_turn();
      node = element_node(trip->element);
      if (!app->hung && !planned_hang(node, names, count)) break;
    }
    if (app->hung || planned_hang(node, names, count)) return kAXErrorCannotComplete;
  }
  double latency = planned_latency(node, names, count);
  if (latency > (double)timeout * 1e6) {
    sleep_us((double)timeout * 1e6);
    trip->late_us = latency - (double)timeout * 1e6;
  } else if (latency > 0) wait_us(latency);
  trip->node = element_node(trip->element);
  if (!trip->node) return kAXErrorInvalidUIElement;
  int dies_after = trip->node->parent ? (int)json_number(trip->node->own, "dies_after", -1) : -1;
  if (dies_after >= 0 && trip->node->reads++ >= dies_after) {
    node_remove(trip->node);
    return kAXErrorInvalidUIElement;
  }
  Json *error = node_get(trip->node, "error");
  if (error && error->kind == J_NUMBER) return (AXError)error->number;
  return trip->late_us > 0 ? kAXErrorCannotComplete : kAXErrorSuccess;
}

const char *name_of(Ref ref, const char *argument) {
  if (!ref) return NULL;
  Object *string = use(ref, STRING, argument);
  return string ? string_utf8(string) : NULL;
}

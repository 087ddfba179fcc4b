#include "accessibility.h"
#include "faults.h"
#include "record.h"
#include "trip.h"
#include "world.h"

#include <stdlib.h>

#define DEFAULT_TIMEOUT 6.0f

float process_timeout = DEFAULT_TIMEOUT;

API Ref kAXTrustedCheckOptionPrompt;

Object *element_new(const Node *node) {
  Object *element = object_new(ELEMENT, false);
  element->as.element.pid = node->app->pid;
  element->as.element.node = node->parent ? node->serial : 0; /* an application is known by its process */
  element->as.element.generation = scene.generation;
  return element;
}

App *element_app(const Object *element) {
  return element->as.element.pid == SYSTEM_WIDE ? NULL : app_by_pid(element->as.element.pid);
}

Node *element_node(const Object *element) {
  if (element->as.element.node == 0) {
    App *app = element_app(element);
    return app && app->running ? app->root : NULL;
  }
  if (element->as.element.generation != scene.generation) return NULL;
  Node *node = node_by_serial((unsigned)element->as.element.node);
  return node && !node->dead ? node : NULL;
}

static bool element_equal(const Object *a, const Object *b) {
  return a->as.element.pid == b->as.element.pid && a->as.element.node == b->as.element.node &&
         (!a->as.element.node || a->as.element.generation == b->as.element.generation);
}

static CFHashCode element_hash(const Object *element) {
  return ((CFHashCode)element->as.element.pid << 32 | element->as.element.node) * 0x9e3779b97f4a7c15u;
}

static void element_describe(const Object *element, Text *text) {
  Node *node = element_node(element);
  text_printf(text, "element %s of pid %d", node ? node_label(node) : "(gone)", element->as.element.pid);
}

void ax_value_init(void);

void accessibility_init(void) {
  traits[ELEMENT] = (Traits){"AXUIElement", 300, "NSObject", NULL, element_equal, element_hash, element_describe};
  kAXTrustedCheckOptionPrompt = string_constant("AXTrustedCheckOptionPrompt");
  ax_value_init();
  faults_plan(getenv("FAKEMAC_FAIL"));
}

API CFTypeID AXUIElementGetTypeID(void) { return traits[ELEMENT].type; }

API Ref AXUIElementCreateApplication(pid_t pid) {
  ENTER;
  Object *element = object_new(ELEMENT, false);
  element->as.element.pid = pid;
  return ref_of(element);
}

API Ref AXUIElementCreateSystemWide(void) {
  ENTER;
  return ref_of(object_new(ELEMENT, false));
}

API AXError AXUIElementGetPid(Ref ref, pid_t *pid) {
  ENTER;
  Object *element = use(ref, ELEMENT, "element");
  if (!element || !pid) return kAXErrorIllegalArgument;
  *pid = element->as.element.pid;
  return kAXErrorSuccess;
}

/** On the system-wide element: for the whole process. On any other: for this object, not for equal ones. */
API AXError AXUIElementSetMessagingTimeout(Ref ref, float seconds) {
  ENTER;
  Object *element = use(ref, ELEMENT, "element");
  if (!element || !(seconds >= 0)) return kAXErrorIllegalArgument;
  if (element->as.element.pid == SYSTEM_WIDE) process_timeout = seconds > 0 ? seconds : DEFAULT_TIMEOUT;
  else element->as.element.timeout = seconds;
  return kAXErrorSuccess;
}

/* Permission */

bool trusted(const char *what) {
  Json *given = json_get(json_get(scene.json, "trust"), what);
  return !given || given->kind == J_TRUE;
}

API Boolean AXIsProcessTrusted(void) {
  ENTER;
  world_turn();
  return trusted("accessibility");
}

API Boolean AXIsProcessTrustedWithOptions(Ref options_ref) {
  ENTER;
  world_turn();
  Object *options = options_ref ? use(options_ref, DICTIONARY, "options") : NULL;
  Object *prompt = options ? dictionary_get(options, "AXTrustedCheckOptionPrompt") : NULL;
  if (prompt == boolean(true) && !trusted("accessibility")) {
    Text line = record_open("prompt");
    text_add(&line, ",\"for\":\"accessibility\"");
    record_close(&line);
  }
  return trusted("accessibility");
}

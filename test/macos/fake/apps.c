/* Applications: running, gone, and installed. */
#include "record.h"
#include "scene.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

App *app_by_pid(int pid) {
  App *gone = NULL;
  for (App *app = scene.apps; app; app = app->next) {
    if (app->pid != pid) continue;
    if (app->running) return app;
    gone = app;
  }
  return gone;
}

const char *app_name(const App *app) {
  const char *name = json_string(app->json, "name");
  return name ? name : "";
}

static bool named(const Json *json, const char *name) {
  static const char *keys[] = {"name", "bundle_id", "path"};
  for (int i = 0; i < 3; i++) {
    const char *value = json_string(json, keys[i]);
    if (value && !strcasecmp(value, name)) return true;
  }
  return false;
}

App *app_by_name(const char *name) {
  for (App *app = scene.apps; app; app = app->next)
    if (app->running && named(app->json, name)) return app;
  return NULL;
}

Json *installed_app(const char *name) {
  Json *list = json_get(scene.json, "installed");
  for (Json *item = list ? list->first : NULL; item; item = item->next)
    if (named(item, name)) return item;
  for (App *app = scene.apps; app; app = app->next)
    if (named(app->json, name)) return app->json;
  return NULL;
}

App *app_add(const Json *json) {
  App *app = calloc(1, sizeof *app), **end = &scene.apps;
  app->json = json_clone(json);
  app->pid = (int)json_number(json, "pid", 0);
  app->running = true;
  app->hung = json_true(json, "hung");
  app->started_ms = now_ms();
  while (*end) end = &(*end)->next;
  *end = app;
  if (!json_get(app->json, "AXRole")) json_set(app->json, "AXRole", json_new_string("AXApplication"));
  if (!json_get(app->json, "AXTitle")) json_set(app->json, "AXTitle", json_new_string(app_name(app)));
  Json *windows = json_get(app->json, "windows");
  for (Json *window = windows ? windows->first : NULL; window; window = window->next)
    if (!json_get(window, "AXRole")) json_set(window, "AXRole", json_new_string("AXWindow"));
  app->root = node_root(app);
  const char *focused = json_string(json, "focused");
  app->focused = focused ? node_by_name(focused, NULL) : NULL;
  return app;
}

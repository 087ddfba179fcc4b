/* Functions for tests: fakemac_… */
#include "events.h"
#include "accessibility.h"
#include "faults.h"
#include "record.h"
#include "world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fakemac_start(const char *source);

/** Searches this library by its path: a library that a test opened is not in the global scope. */
static void *own_symbol(const char *name) {
  Dl_info own;
  dladdr((void *)fakemac_start, &own);
  void *handle = dlopen(own.dli_fname, RTLD_LAZY), *found = handle ? dlsym(handle, name) : NULL;
  if (handle) dlclose(handle);
  return found;
}

/** Shows a scene (JSON, or the path of a file; NULL: FAKEMAC_SCENE) and starts a new report. 1 on success. */
API int fakemac_start(const char *source) {
  ENTER;
  events_forget();
  bool shown = world_start(source);
  faults_plan(NULL);
  record_reset();
  return shown;
}

/** Applies an effect or a list of effects now, as if the user or the application caused it. */
API int fakemac_apply(const char *text) {
  ENTER;
  Text error = {0};
  Json *json = json_parse(text, &error);
  if (!json) {
    fprintf(stderr, "libfakemac: effect: %s\n", error.chars);
    text_free(&error);
    return 0;
  }
  if (json->kind == J_OBJECT) {
    world_do(json);
    return 1;
  }
  for (Json *effect = json->first; effect; effect = effect->next) world_do(json_clone(effect));
  json_free(json);
  return 1;
}

/** Sets a variable in the C environment, which getenv of this library reads. Bun's process.env does not change it. */
API void fakemac_setenv(const char *name, const char *value) {
  ENTER;
  if (value) setenv(name, value, 1);
  else unsetenv(name);
}

/** Lets time pass, really or on the virtual clock. */
API void fakemac_sleep(double ms) {
  ENTER;
  sleep_us(ms * 1e3);
  world_turn();
}

/** The scene's clock: with a virtual one, the time of day and all waits. */
API double fakemac_now(void) { return now_ms(); }

/** The value of an exported pointer variable, for callers that cannot read one. */
API Ref fakemac_constant(const char *name) {
  ENTER;
  Ref *variable = own_symbol(name);
  return variable ? *variable : NULL;
}

/** The address of an exported symbol. */
API void *fakemac_address(const char *name) {
  ENTER;
  return own_symbol(name);
}

static void frame_print(Text *text, const Node *node) {
  CGRect frame = node_frame(node);
  text_printf(text, ",\"frame\":[%g,%g,%g,%g]", frame.origin.x, frame.origin.y, frame.size.width, frame.size.height);
}

/** The present state of a node, read without a call: nothing is counted and no fault applies. "{}" if unknown. */
API const char *fakemac_look(const char *name) {
  ENTER;
  static Text text;
  text_clear(&text);
  world_turn();
  Node *node = node_by_name(name, NULL);
  if (!node) return "{}";
  text_printf(&text, "{\"serial\":%u,\"pid\":%d,\"shows\":%s,\"open\":%s,\"focused\":%s", node->serial, node->app->pid,
              node_shows(node) ? "true" : "false", node->open ? "true" : "false", node->app->focused == node ? "true" : "false");
  if (node->number) text_printf(&text, ",\"window\":%u,\"on_screen\":%s", node->number, window_on_screen(node) ? "true" : "false");
  if (node->framed) frame_print(&text, node);
  const Json *places[] = {node->own, node->proto, node->subrole, node->role};
  for (int i = 0; i < 4; i++)
    for (Json *member = places[i] ? places[i]->first : NULL; member; member = member->next) {
      if (strncmp(member->key, "AX", 2) || node_get(node, member->key) != member) continue;
      text_add(&text, ",");
      text_quote(&text, member->key);
      text_add(&text, ":");
      char *filled = member->kind == J_STRING ? fill_in(node, member->string) : NULL;
      if (filled) text_quote(&text, filled);
      else json_print(&text, member);
      free(filled);
    }
  text_add(&text, ",\"children\":[");
  const char *separator = "";
  for (int i = 0; i < node->count; i++) {
    if (!node_shows(node->children[i])) continue;
    text_add(&text, separator);
    text_quote(&text, node_label(node->children[i]));
    separator = ",";
  }
  text_add(&text, "]}");
  return text.chars;
}

/** The present applications, windows front to back, cursor and pasteboard. */
API const char *fakemac_world(void) {
  ENTER;
  static Text text;
  text_clear(&text);
  world_turn();
  text_printf(&text, "{\"front\":%d,\"cursor\":[%g,%g],\"apps\":[", scene.front, scene.cursor.x, scene.cursor.y);
  for (App *app = scene.apps; app; app = app->next) {
    text_printf(&text, "%s{\"pid\":%d,\"running\":%s,\"name\":", app == scene.apps ? "" : ",", app->pid, app->running ? "true" : "false");
    text_quote(&text, app_name(app));
    if (app->focused) text_add(&text, ",\"focused\":");
    if (app->focused) text_quote(&text, node_label(app->focused));
    text_add(&text, "}");
  }
  text_add(&text, "],\"windows\":[");
  Node **windows;
  int count = windows_stacked(&windows);
  for (int i = 0; i < count; i++) text_printf(&text, "%s%u", i ? "," : "", windows[i]->number);
  text_add(&text, "],\"pasteboard\":");
  Json *pasteboard = json_get(scene.json, "pasteboard");
  if (pasteboard) json_print(&text, pasteboard);
  else text_add(&text, "{}");
  text_add(&text, "}");
  return text.chars;
}

/* For the programs in programs/tools.c */

/** Notes that a program was started. Returns the planned exit code ({"tools": {"open": {"fails": 1}}}), or -1. */
API int fakemac_run(const char *program, const char *arguments) {
  ENTER;
  Text line = record_open("run");
  text_printf(&line, ",\"program\":\"%s\",\"args\":%s", program, arguments);
  record_close(&line);
  Json *plan = json_get(json_get(scene.json, "tools"), program);
  sleep_us(json_number(plan, "slow_ms", 0) * 1e3);
  return (int)json_number(plan, "fails", -1);
}

API const char *fakemac_pasteboard(void) {
  ENTER;
  world_turn();
  const char *text = json_string(json_get(scene.json, "pasteboard"), "public.utf8-plain-text");
  return text ? text : "";
}

API bool fakemac_installed(const char *name) {
  ENTER;
  world_turn();
  return installed_app(name) != NULL;
}

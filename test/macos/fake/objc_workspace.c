/* NSWorkspace, NSRunningApplication, NSBundle. They show the state at the time when the run loop last ran. */
#include "objc.h"
#include "record.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEEN 256

static int seen[MAX_SEEN], seen_count, seen_front = -1;
static unsigned seen_generation;
static Object *workspace;

void world_refresh_workspace(void) {
  seen_count = 0;
  for (App *app = scene.apps; app && seen_count < MAX_SEEN; app = app->next)
    if (app->running) seen[seen_count++] = app->pid;
  seen_front = scene.front;
  seen_generation = scene.generation;
}

static void first_look(void) {
  world_turn();
  if (seen_front < 0 || seen_generation != scene.generation) world_refresh_workspace();
}

static bool is_seen(int pid) {
  for (int i = 0; i < seen_count; i++)
    if (seen[i] == pid) return true;
  return false;
}

static Object *running_new(int pid) {
  int *state = malloc(sizeof *state);
  *state = pid;
  return instance_new("NSRunningApplication", state);
}

static int pid_of(const Message *m) { return *(int *)m->self->as.extra.state; }
static App *app_of(const Message *m) { return app_by_pid(pid_of(m)); }

static void tell(const char *what, int pid) {
  Text line = record_open(what);
  text_printf(&line, ",\"pid\":%d", pid);
  record_close(&line);
}

static void tell_app(const char *verb, int pid, bool force) {
  Json *effect = effect_new(verb, NULL);
  json_set(effect, "app", json_new_number(pid));
  if (force) json_set(effect, "force", json_new(J_TRUE));
  tell(verb, pid);
  world_do(effect);
}

/* NSWorkspace */

static void workspace_shared(Message *m) {
  first_look();
  if (!workspace) workspace = object_constant(instance_new("NSWorkspace", NULL));
  answer_object(m, workspace);
}

static void workspace_running(Message *m) {
  first_look();
  Object *list = array_new(seen_count);
  for (int i = 0; i < seen_count; i++) array_push_new(list, running_new(seen[i]));
  answer_autoreleased(m, list);
}

static void workspace_front(Message *m) {
  first_look();
  answer_autoreleased(m, seen_front > 0 ? running_new(seen_front) : NULL);
}

static void workspace_url(Message *m) {
  Object *id = argument(m, 0, STRING, "bundleIdentifier");
  Json *known = id ? installed_app(string_utf8(id)) : NULL;
  const char *path = json_string(known, "path");
  answer_autoreleased(m, path ? url_new_path(path) : NULL);
}

static void workspace_path(Message *m) {
  Object *name = argument(m, 0, STRING, "appName");
  Json *known = name ? installed_app(string_utf8(name)) : NULL;
  const char *path = json_string(known, "path");
  answer_autoreleased(m, path ? string_new(path) : NULL);
}

static void start(const char *name, bool background) {
  Text line = record_open("launch");
  text_add(&line, ",\"app\":");
  text_quote(&line, name);
  record_close(&line);
  Json *effect = effect_new("launch", NULL);
  json_set(effect, "app", json_new_string(name));
  if (background) json_set(effect, "background", json_new(J_TRUE));
  world_do(effect);
}

static void workspace_open_application(Message *m) {
  Object *url = argument(m, 0, URL, "applicationURL"), *configuration = argument(m, 1, INSTANCE, "configuration");
  if (!url || !configuration) {
    fatal("NSInvalidArgumentException", "-[NSWorkspace openApplicationAtURL:configuration:completionHandler:]: nil argument");
    return;
  }
  if (m->arguments[2]) breach("block", "the completion handler runs on a thread of its own");
  char *path = url_path(url);
  if (path && installed_app(path)) start(path, configuration->as.extra.state && !*(bool *)configuration->as.extra.state);
  free(path);
}

static void workspace_open_url(Message *m) {
  Object *url = argument(m, 0, URL, "url");
  Text line = record_open("open_url");
  text_add(&line, ",\"url\":");
  text_quote(&line, url ? string_utf8(url->as.holder.inner) : "");
  record_close(&line);
  answer(m, url != NULL);
}

static void configuration_new(Message *m) { answer_autoreleased(m, instance_new("NSWorkspaceOpenConfiguration", NULL)); }

static void configuration_activates(Message *m) {
  bool *state = m->self->as.extra.state ? m->self->as.extra.state : (m->self->as.extra.state = malloc(sizeof *state));
  *state = (m->arguments[0] & 0xff) != 0;
}

static void configuration_ignore(Message *m) { (void)m; }

/* NSRunningApplication */

static void running_with_pid(Message *m) {
  first_look();
  int pid = (int)m->arguments[0];
  answer_autoreleased(m, is_seen(pid) ? running_new(pid) : NULL);
}

static void running_with_bundle(Message *m) {
  Object *id = argument(m, 0, STRING, "bundleIdentifier"), *list = array_new(2);
  first_look();
  for (int i = 0; id && i < seen_count; i++) {
    App *app = app_by_pid(seen[i]);
    const char *bundle = app ? json_string(app->json, "bundle_id") : NULL;
    if (bundle && string_is(id, bundle)) array_push_new(list, running_new(seen[i]));
  }
  answer_autoreleased(m, list);
}

static void running_pid(Message *m) { answer(m, (uint64_t)(uint32_t)pid_of(m)); }

static void answer_text(Message *m, const char *text) { answer_autoreleased(m, text ? string_new(text) : NULL); }

static void running_name(Message *m) {
  App *app = app_of(m);
  answer_text(m, app ? app_name(app) : NULL);
}

static void running_bundle(Message *m) {
  App *app = app_of(m);
  answer_text(m, app ? json_string(app->json, "bundle_id") : NULL);
}

static void running_bundle_url(Message *m) {
  App *app = app_of(m);
  const char *path = app ? json_string(app->json, "path") : NULL;
  answer_autoreleased(m, path ? url_new_path(path) : NULL);
}

/** /Applications/X.app runs /Applications/X.app/Contents/MacOS/X, unless the scene names another program. */
void executable_of(const App *app, char *out, size_t room) {
  const char *said = json_string(app->json, "executable"), *path = json_string(app->json, "path");
  if (said) snprintf(out, room, "%s", said);
  else if (path) snprintf(out, room, "%s/Contents/MacOS/%s", path, app_name(app));
  else snprintf(out, room, "/Applications/%s.app/Contents/MacOS/%s", app_name(app), app_name(app));
}

static void running_executable(Message *m) {
  App *app = app_of(m);
  char path[1024];
  if (app) executable_of(app, path, sizeof path);
  answer_autoreleased(m, app ? url_new_path(path) : NULL);
}

static void running_active(Message *m) {
  first_look();
  answer(m, seen_front == pid_of(m));
}

static void running_hidden(Message *m) {
  App *app = app_of(m);
  answer(m, app && node_flag(app->root, "AXHidden", false));
}

static void running_terminated(Message *m) {
  first_look();
  answer(m, !is_seen(pid_of(m)));
}

static void running_finished(Message *m) {
  App *app = app_of(m);
  answer(m, app && !json_true(app->json, "launching"));
}

static void running_policy(Message *m) {
  App *app = app_of(m);
  const char *policy = app ? json_string(app->json, "policy") : NULL;
  answer(m, !policy || !strcmp(policy, "regular") ? 0 : !strcmp(policy, "accessory") ? 1 : 2);
}

static void running_launch_date(Message *m) {
  App *app = app_of(m);
  Json *start_at = app ? json_get(app->json, "start") : NULL;
  if (!app) return;
  double seconds = start_at && start_at->kind == J_ARRAY ? json_at(start_at, 0) : app->started_ms / 1e3;
  answer_autoreleased(m, date_new(seconds - 978307200.0));
}

static void running_terminate(Message *m) {
  App *app = app_of(m);
  if (app && app->running) tell_app("quit", pid_of(m), false);
  answer(m, app != NULL);
}

static void running_force(Message *m) {
  App *app = app_of(m);
  if (app && app->running) tell_app("quit", pid_of(m), true);
  answer(m, app != NULL);
}

/* Since macOS 14, activation is a request. A scene can refuse it. */
static void running_activate(Message *m) {
  App *app = app_of(m);
  bool refused = json_true(scene.json, "refuses_activation");
  if (app && app->running && !refused) tell_app("front", pid_of(m), false);
  answer(m, app && !refused);
}

static void set_hidden(Message *m, bool hidden) {
  App *app = app_of(m);
  if (!app || !app->running) return;
  Json *effect = effect_new("write", app->root);
  json_set(effect, "attribute", json_new_string("AXHidden"));
  json_set(effect, "value", json_new(hidden ? J_TRUE : J_FALSE));
  tell(hidden ? "hide" : "unhide", pid_of(m));
  world_do(effect);
  answer(m, 1);
}

static void running_hide(Message *m) { set_hidden(m, true); }
static void running_unhide(Message *m) { set_hidden(m, false); }

/* NSBundle: the installed applications of the scene */

static void bundle_with_path(Message *m) {
  Object *given = argument(m, 0, ANY, "path");
  char *path = !given ? NULL : given->kind == URL ? url_path(given) : strdup(string_utf8(given));
  Json *known = path ? installed_app(path) : NULL;
  free(path);
  if (!known) return;
  const Json **state = malloc(sizeof *state);
  *state = known;
  answer_autoreleased(m, instance_new("NSBundle", state));
}

static void bundle_id(Message *m) { answer_text(m, json_string(*(Json **)m->self->as.extra.state, "bundle_id")); }
static void bundle_path(Message *m) { answer_text(m, json_string(*(Json **)m->self->as.extra.state, "path")); }

static void bundle_value(Message *m) {
  Object *key = argument(m, 0, STRING, "key");
  const Json *known = *(Json **)m->self->as.extra.state;
  if (string_is(key, "CFBundleIdentifier")) answer_text(m, json_string(known, "bundle_id"));
  else if (string_is(key, "CFBundleName") || string_is(key, "CFBundleDisplayName")) answer_text(m, json_string(known, "name"));
  else if (string_is(key, "CFBundleShortVersionString")) answer_text(m, json_string(known, "version"));
}

const Method workspace_methods[] = {
    {"NSWorkspace", '+', "sharedWorkspace", "@", workspace_shared},
    {"NSWorkspace", '-', "runningApplications", "@", workspace_running},
    {"NSWorkspace", '-', "frontmostApplication", "@", workspace_front},
    {"NSWorkspace", '-', "menuBarOwningApplication", "@", workspace_front},
    {"NSWorkspace", '-', "URLForApplicationWithBundleIdentifier:", "@@", workspace_url},
    {"NSWorkspace", '-', "fullPathForApplication:", "@@", workspace_path},
    {"NSWorkspace", '-', "openApplicationAtURL:configuration:completionHandler:", "v@@?", workspace_open_application},
    {"NSWorkspace", '-', "openURL:", "B@", workspace_open_url},
    {"NSWorkspaceOpenConfiguration", '+', "configuration", "@", configuration_new},
    {"NSWorkspaceOpenConfiguration", '-', "setActivates:", "vB", configuration_activates},
    {"NSWorkspaceOpenConfiguration", '-', "setArguments:", "v@", configuration_ignore},
    {"NSWorkspaceOpenConfiguration", '-', "setCreatesNewApplicationInstance:", "vB", configuration_ignore},
    {"NSRunningApplication", '+', "runningApplicationWithProcessIdentifier:", "@i", running_with_pid},
    {"NSRunningApplication", '+', "runningApplicationsWithBundleIdentifier:", "@@", running_with_bundle},
    {"NSRunningApplication", '-', "processIdentifier", "i", running_pid},
    {"NSRunningApplication", '-', "localizedName", "@", running_name},
    {"NSRunningApplication", '-', "bundleIdentifier", "@", running_bundle},
    {"NSRunningApplication", '-', "bundleURL", "@", running_bundle_url},
    {"NSRunningApplication", '-', "executableURL", "@", running_executable},
    {"NSRunningApplication", '-', "isActive", "B", running_active},
    {"NSRunningApplication", '-', "ownsMenuBar", "B", running_active},
    {"NSRunningApplication", '-', "isHidden", "B", running_hidden},
    {"NSRunningApplication", '-', "isTerminated", "B", running_terminated},
    {"NSRunningApplication", '-', "isFinishedLaunching", "B", running_finished},
    {"NSRunningApplication", '-', "activationPolicy", "q", running_policy},
    {"NSRunningApplication", '-', "launchDate", "@", running_launch_date},
    {"NSRunningApplication", '-', "terminate", "B", running_terminate},
    {"NSRunningApplication", '-', "forceTerminate", "B", running_force},
    {"NSRunningApplication", '-', "activateWithOptions:", "BQ", running_activate},
    {"NSRunningApplication", '-', "activate", "B", running_activate},
    {"NSRunningApplication", '-', "hide", "B", running_hide},
    {"NSRunningApplication", '-', "unhide", "B", running_unhide},
    {"NSBundle", '+', "bundleWithPath:", "@@", bundle_with_path},
    {"NSBundle", '+', "bundleWithURL:", "@@", bundle_with_path},
    {"NSBundle", '-', "bundleIdentifier", "@", bundle_id},
    {"NSBundle", '-', "bundlePath", "@", bundle_path},
    {"NSBundle", '-', "objectForInfoDictionaryKey:", "@@", bundle_value},
    {NULL, 0, NULL, NULL, NULL},
};

/* CFBundle and LaunchServices: the installed applications of the scene. */
#include "foundation.h"
#include "record.h"
#include "scene.h"
#include "world.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

API Ref kCFBundleIdentifierKey, kCFBundleNameKey, kCFBundleVersionKey;

static void bundle_finalize(Object *bundle) { object_drop(bundle->as.holder.inner); }

void bundle_init(void) {
  traits[BUNDLE] = (Traits){"CFBundle", 26, "NSObject", bundle_finalize, NULL, NULL, NULL};
  kCFBundleIdentifierKey = string_constant("CFBundleIdentifier");
  kCFBundleNameKey = string_constant("CFBundleName");
  kCFBundleVersionKey = string_constant("CFBundleVersion");
}

static Object *bundle_new(const Json *app) {
  static const char *const keys[][2] = {{"CFBundleIdentifier", "bundle_id"}, {"CFBundleName", "name"}, {"CFBundleShortVersionString", "version"}};
  Object *info = object_adopt(dictionary_new()), *bundle = object_new(BUNDLE, false);
  for (int i = 0; i < 3; i++)
    if (json_string(app, keys[i][1])) dictionary_put_new(info, keys[i][0], string_new(json_string(app, keys[i][1])));
  bundle->as.holder.inner = info;
  return bundle;
}

API Ref CFBundleCreate(Ref allocator, Ref url_ref) {
  ENTER;
  (void)allocator;
  Object *url = use(url_ref, URL, "bundleURL");
  char *path = url ? url_path(url) : NULL;
  Json *app = path ? installed_app(path) : NULL;
  free(path);
  return app ? ref_of(bundle_new(app)) : NULL;
}

/** Finds only bundles that are loaded into this process: the frameworks. */
API Ref CFBundleGetBundleWithIdentifier(Ref id_ref) {
  ENTER;
  static Object *frameworks;
  Object *id = use(id_ref, STRING, "bundleID");
  if (!id || strncmp(string_utf8(id), "com.apple.", 10)) return NULL;
  if (!frameworks) {
    frameworks = object_constant(object_new(BUNDLE, false));
    frameworks->as.holder.inner = object_adopt(dictionary_new());
  }
  return ref_of(frameworks);
}

API void *CFBundleGetFunctionPointerForName(Ref ref, Ref name_ref) {
  ENTER;
  Object *bundle = use(ref, BUNDLE, "bundle"), *name = use(name_ref, STRING, "functionName");
  return bundle && name ? dlsym(RTLD_DEFAULT, string_utf8(name)) : NULL;
}

API Ref CFBundleGetIdentifier(Ref ref) {
  ENTER;
  Object *bundle = use(ref, BUNDLE, "bundle");
  return bundle ? ref_of(dictionary_get(bundle->as.holder.inner, "CFBundleIdentifier")) : NULL;
}

API Ref CFBundleGetValueForInfoDictionaryKey(Ref ref, Ref key_ref) {
  ENTER;
  Object *bundle = use(ref, BUNDLE, "bundle"), *key = use(key_ref, STRING, "key");
  return bundle && key ? ref_of(dictionary_find(bundle->as.holder.inner, key)) : NULL;
}

/* LaunchServices */

static void not_found(Ref *error) {
  if (!error) return;
  Object *made = object_new(ERROR_, false);
  made->as.holder.inner = object_adopt(string_new("The application cannot be found."));
  made->as.holder.number = -10814;
  *error = ref_of(made);
}

API Ref LSCopyApplicationURLsForBundleIdentifier(Ref id_ref, Ref *error) {
  ENTER;
  Object *id = use(id_ref, STRING, "inBundleIdentifier");
  const char *path = id ? json_string(installed_app(string_utf8(id)), "path") : NULL;
  if (error) *error = NULL;
  if (!path) {
    not_found(error);
    return NULL;
  }
  Object *list = array_new(1);
  array_push_new(list, url_new_path(path));
  return ref_of(list);
}

API Ref LSCopyDefaultApplicationURLForURL(Ref url, uint32_t roles, Ref *error) {
  ENTER;
  (void)roles;
  use(url, URL, "inURL");
  if (error) *error = NULL;
  not_found(error);
  return NULL;
}

API OSStatus LSOpenCFURLRef(Ref url_ref, Ref *launched) {
  ENTER;
  Object *url = use(url_ref, URL, "inURL");
  if (launched) *launched = NULL;
  char *path = url ? url_path(url) : NULL;
  Json *app = path ? installed_app(path) : NULL;
  free(path);
  if (!app) return -10814;
  Json *effect = effect_new("launch", NULL);
  json_set(effect, "app", json_new_string(json_string(app, "name")));
  world_do(effect);
  return 0;
}

/* The old process manager: a serial number whose second half is the pid */

API OSErr GetFrontProcess(uint32_t *process) {
  ENTER;
  if (!process) return -50;
  world_turn();
  process[0] = 0;
  process[1] = (uint32_t)scene.front;
  return scene.front ? 0 : -600;
}

API OSStatus GetProcessForPID(pid_t pid, uint32_t *process) {
  ENTER;
  App *app = app_by_pid(pid);
  if (!process || !app || !app->running) return -600;
  process[0] = 0;
  process[1] = (uint32_t)pid;
  return 0;
}

API OSStatus SetFrontProcessWithOptions(const uint32_t *process, uint32_t options) {
  ENTER;
  (void)options;
  App *app = process ? app_by_pid((int)process[1]) : NULL;
  if (!app || !app->running) return -600;
  Json *effect = effect_new("front", NULL);
  json_set(effect, "app", json_new_number(app->pid));
  world_do(effect);
  return 0;
}

API OSStatus TransformProcessType(const uint32_t *process, uint32_t state) {
  ENTER;
  (void)state;
  return process ? 0 : -50;
}

/* Apple events are not modelled: no application can be automated. */

API OSErr AECreateDesc(uint32_t type, const void *bytes, long size, void *descriptor) {
  ENTER;
  (void)type, (void)bytes, (void)size;
  if (descriptor) memset(descriptor, 0, 16);
  return descriptor ? 0 : -50;
}

API OSErr AEDisposeDesc(void *descriptor) {
  ENTER;
  return descriptor ? 0 : -50;
}

API OSStatus AEDeterminePermissionToAutomateTarget(const void *target, uint32_t class, uint32_t id, Boolean ask) {
  ENTER;
  (void)target, (void)class, (void)id, (void)ask;
  return -1743;
}

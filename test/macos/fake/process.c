/* libSystem: processes of the scene, and system calls that Linux does not have. */
#include "foundation.h"
#include "objc.h"
#include "paths.h"
#include "record.h"
#include "world.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROC_PIDTBSDINFO 3

void executable_of(const App *app, char *out, size_t room);
const char *os_version(void);

static App *alive(int pid) {
  world_turn();
  App *app = app_by_pid(pid);
  if (app && app->running) return app;
  errno = ESRCH;
  return NULL;
}

API int proc_pidpath(int pid, char *buffer, uint32_t room) {
  ENTER;
  App *app = alive(pid);
  char path[1024] = {0};
  if (app) executable_of(app, path, sizeof path);
  else if (pid != getpid() || readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 0;
  if (!buffer || strlen(path) >= room) {
    errno = ENOMEM;
    return 0;
  }
  strcpy(buffer, path);
  return (int)strlen(path);
}

API int proc_name(int pid, char *buffer, uint32_t room) {
  ENTER;
  App *app = alive(pid);
  if (!app || !buffer || !room) return 0;
  snprintf(buffer, room, "%.32s", app_name(app));
  return (int)strlen(buffer);
}

/** Laid out as in <sys/proc_info.h>: 136 bytes. */
struct proc_bsdinfo {
  uint32_t flags, status, xstatus, pid, ppid, uid, gid, ruid, rgid, svuid, svgid, reserved;
  char comm[16], name[32];
  uint32_t files, group, jobs, terminal, terminal_group;
  int32_t nice;
  uint64_t start_seconds, start_microseconds;
};
_Static_assert(sizeof(struct proc_bsdinfo) == 136, "proc_bsdinfo");

API int proc_pidinfo(int pid, int flavor, uint64_t argument, void *buffer, int room) {
  ENTER;
  (void)argument;
  App *app = alive(pid);
  if (!app) return 0;
  if (flavor != PROC_PIDTBSDINFO || !buffer || room < (int)sizeof(struct proc_bsdinfo)) {
    errno = flavor == PROC_PIDTBSDINFO ? ENOMEM : EINVAL;
    return 0;
  }
  struct proc_bsdinfo info = {.status = 2, .pid = (uint32_t)pid, .ppid = 1, .uid = 501, .ruid = 501, .svuid = 501};
  Json *start = json_get(app->json, "start");
  bool said = start && start->kind == J_ARRAY;
  info.start_seconds = said ? (uint64_t)json_at(start, 0) : (uint64_t)(app->started_ms / 1e3);
  info.start_microseconds = said ? (uint64_t)json_at(start, 1) : (uint64_t)(app->started_ms * 1e3) % 1000000;
  snprintf(info.comm, sizeof info.comm, "%.15s", app_name(app));
  snprintf(info.name, sizeof info.name, "%.31s", app_name(app));
  memcpy(buffer, &info, sizeof info);
  return (int)sizeof info;
}

/** Returns a number of bytes, like the real function. Without a buffer: the number of bytes that would be needed. */
static int list_pids(int *pids, int room) {
  world_turn();
  int count = 0;
  for (App *app = scene.apps; app; app = app->next) {
    if (!app->running) continue;
    if (pids && (count + 1) * (int)sizeof(int) > room) break;
    if (pids) pids[count] = app->pid;
    count++;
  }
  return count * (int)sizeof(int);
}

API int proc_listpids(uint32_t type, uint32_t info, int *buffer, int room) {
  ENTER;
  (void)type, (void)info;
  return list_pids(buffer, room);
}

/** Returns a number of processes, unlike proc_listpids. */
API int proc_listallpids(int *buffer, int room) {
  ENTER;
  return list_pids(buffer, room) / (int)sizeof(int);
}

/** True if the pid belongs to the scene. Then no real process gets the signal. */
API bool fakemac_kill(int pid, int signal, int *result) {
  ENTER;
  world_turn();
  App *app = app_by_pid(pid);
  if (!app) return false;
  *result = app->running ? 0 : -1;
  if (!app->running) errno = ESRCH;
  else if (signal) {
    Text line = record_open("kill");
    text_printf(&line, ",\"pid\":%d,\"signal\":%d", pid, signal);
    record_close(&line);
    Json *effect = effect_new("quit", NULL);
    json_set(effect, "app", json_new_number(pid));
    json_set(effect, "force", json_new(J_TRUE));
    if (!(signal == 15 && json_true(app->json, "ignores_term"))) world_do(effect);
    else json_free(effect);
  }
  return true;
}

API int kill(pid_t pid, int signal) {
  static int (*real)(pid_t, int);
  int result;
  if (fakemac_kill(pid, signal, &result)) return result;
  if (!real) real = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
  return real(pid, signal);
}

/* sysctl */

static int give(const void *value, size_t size, void *out, size_t *room) {
  if (room && out && *room < size) {
    errno = ENOMEM;
    return -1;
  }
  if (out) memcpy(out, value, size);
  if (room) *room = size;
  return 0;
}

API int sysctlbyname(const char *name, void *out, size_t *room, const void *new_value, size_t new_size) {
  ENTER;
  (void)new_value, (void)new_size;
  int one = 1, zero = 0;
  if (!strcmp(name, "kern.osproductversion")) return give(os_version(), strlen(os_version()) + 1, out, room);
  if (!strcmp(name, "kern.osversion")) return give("24F74", 6, out, room);
  if (!strcmp(name, "hw.model")) return give("Mac15,3", 8, out, room);
  if (!strcmp(name, "hw.optional.arm64")) return give(&one, sizeof one, out, room);
  if (!strcmp(name, "sysctl.proc_translated")) return give(&zero, sizeof zero, out, room);
  errno = ENOENT;
  return -1;
}

API int sysctl(const int *name, unsigned length, void *out, size_t *room, const void *new_value, size_t new_size) {
  ENTER;
  (void)name, (void)length, (void)out, (void)room, (void)new_value, (void)new_size;
  note("unsupported", "sysctl by number is not modelled");
  errno = ENOENT;
  return -1;
}

API int _NSGetExecutablePath(char *buffer, uint32_t *room) {
  ENTER;
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0 || !room) return -1;
  path[length] = 0;
  if (!buffer || (size_t)length >= *room) {
    *room = (uint32_t)length + 1;
    return -1;
  }
  strcpy(buffer, path);
  return 0;
}

/* Loading */

/** Called when a framework is loaded by path. AppKit's classes exist from then on. */
API void fakemac_note_load(const char *path) {
  ENTER;
  static bool noted;
  if (!noted) appkit_loaded = false;
  noted = true;
  if (strstr(path, "AppKit") || strstr(path, "Cocoa.framework")) appkit_loaded = true;
}

API void *dlopen(const char *path, int mode) {
  static void *(*real)(const char *, int);
  if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  Dl_info own;
  int kind = apple_library(path);
  if (kind == 1) {
    fakemac_note_load(path);
    dladdr((void *)fakemac_note_load, &own);
    path = own.dli_fname;
  } else if (kind == 2) path = LIBFFI;
  return real(path, mode);
}

/* For LD_PRELOAD with a compiled program: replaces Apple's libraries and programs with those beside this file. */
#include "paths.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

static char library[4096], bin[4096];
static void *(*real_dlopen)(const char *, int);
static int (*real_execve)(const char *, char *const[], char *const[]);
static int (*real_kill)(pid_t, int);
static int (*real_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
static void *opened;

/* Finds all addresses in advance: a child between vfork and exec must not look them up. */
__attribute__((constructor)) static void prepare(void) {
  Dl_info own;
  real_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  real_execve = (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
  real_kill = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
  *(void **)&real_spawn = dlsym(RTLD_NEXT, "posix_spawn");
  dladdr((void *)prepare, &own);
  const char *slash = strrchr(own.dli_fname, '/');
  int length = slash ? (int)(slash - own.dli_fname) : 0;
  snprintf(library, sizeof library, "%.*s/libfakemac.so", length, own.dli_fname);
  snprintf(bin, sizeof bin, "%.*s/bin", length, own.dli_fname);
}

EXPORT void *dlopen(const char *path, int mode) {
  int kind = apple_library(path);
  if (kind == 2) return real_dlopen(LIBFFI, mode);
  if (kind != 1) return real_dlopen(path, mode);
  opened = real_dlopen(library, mode);
  void (*note)(const char *) = opened ? (void (*)(const char *))dlsym(opened, "fakemac_note_load") : NULL;
  if (note) note(path);
  return opened;
}

static const char *program(const char *path, char *buffer, size_t room) {
  static const char *const ours[] = {"/usr/sbin/screencapture", "/usr/bin/open", "/usr/bin/pbcopy", "/usr/bin/pbpaste", "/usr/bin/osascript"};
  for (size_t i = 0; path && i < sizeof ours / sizeof *ours; i++) {
    if (strcmp(path, ours[i])) continue;
    snprintf(buffer, room, "%s%s", bin, strrchr(path, '/'));
    return buffer;
  }
  return path;
}

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  char buffer[4200];
  return real_execve(program(path, buffer, sizeof buffer), arguments, environment);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  char buffer[4200];
  return real_spawn(pid, program(path, buffer, sizeof buffer), actions, attributes, arguments, environment);
}

/* A pid of the scene may be any real process here: it must never get the signal. */
EXPORT int kill(pid_t pid, int signal) {
  bool (*ours)(int, int, int *) = opened ? (bool (*)(int, int, int *))dlsym(opened, "fakemac_kill") : NULL;
  int result;
  if (ours && ours(pid, signal, &result)) return result;
  return real_kill(pid, signal);
}

/* The file that replaces a file of Apple. Shared with dlredirect.c. */
#ifndef PATHS_H
#define PATHS_H

#include <string.h>

/** 1: our library. 2: the system's libffi. 0: not a library of Apple. */
static inline int apple_library(const char *path) {
  if (!path) return 0;
  if (!strncmp(path, "/System/Library/", 16)) return 1;
  if (strstr(path, "libffi.dylib") || strstr(path, "libffi-trampolines.dylib")) return 2;
  if (!strncmp(path, "libSystem.", 10) || !strncmp(path, "libobjc.", 8)) return 1;
  if (!strncmp(path, "/usr/lib/libobjc", 16) || !strncmp(path, "/usr/lib/libSystem", 18) || !strncmp(path, "/usr/lib/system/", 16)) return 1;
  return !strncmp(path, "/usr/lib/libproc", 16);
}

#define LIBFFI "libffi.so.8"

#endif

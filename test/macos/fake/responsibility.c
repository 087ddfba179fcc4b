/* libSystem: the process that privacy grants are looked up for, and a restart without a responsible parent. */
#include "record.h"
#include "world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define POSIX_SPAWN_SETEXEC 0x40
#define DISCLAIMED "FAKEMAC_DISCLAIMED"

/** For this process: the scene's "responsible" (a pid, or "self"). For any other process: itself. */
API pid_t responsibility_get_pid_responsible_for_pid(pid_t pid) {
  ENTER;
  world_turn();
  const char *disclaimed = getenv(DISCLAIMED);
  if (pid != getpid() || (disclaimed && atoi(disclaimed) == pid)) return pid;
  const char *word = json_string(scene.json, "responsible");
  return word && !strcmp(word, "self") ? pid : (pid_t)json_number(scene.json, "responsible", -1);
}

/* Apple's posix_spawnattr_t is a pointer to memory that init allocates. */
typedef struct {
  short flags;
  int disclaims;
} *Attributes;

API int posix_spawnattr_init(Attributes *attributes) {
  ENTER;
  *attributes = calloc(1, sizeof **attributes);
  return *attributes ? 0 : ENOMEM;
}

API int posix_spawnattr_destroy(Attributes *attributes) {
  ENTER;
  free(*attributes);
  *attributes = NULL;
  return 0;
}

API int posix_spawnattr_setflags(Attributes *attributes, short flags) {
  ENTER;
  (*attributes)->flags = flags;
  return 0;
}

API int responsibility_spawnattrs_setdisclaim(Attributes *attributes, int disclaims) {
  ENTER;
  (*attributes)->disclaims = disclaims;
  return 0;
}

/** Only as an exec that disclaims responsibility. The scene's "exec_fails" is the errno of a failure. */
API int posix_spawn(pid_t *pid, const char *path, const void *actions, Attributes *attributes, char *const arguments[], char *const environment[]) {
  ENTER;
  (void)pid;
  int refusal = (int)json_number(scene.json, "exec_fails", 0), count = 0;
  if (!attributes || (*attributes)->flags != POSIX_SPAWN_SETEXEC || !(*attributes)->disclaims || actions) {
    note("unsupported", "posix_spawn is modelled as an exec that disclaims");
    return EINVAL;
  }
  Text line = record_open("exec");
  text_printf(&line, ",\"disclaims\":true,\"result\":%d", refusal);
  record_close(&line);
  if (refusal) return refusal;
  while (environment[count]) count++;
  char **extended = calloc((size_t)count + 2, sizeof *extended), mark[64];
  memcpy(extended, environment, (size_t)count * sizeof *extended);
  snprintf(mark, sizeof mark, DISCLAIMED "=%d", (int)getpid());
  extended[count] = mark;
  execve(path, arguments, extended);
  free(extended);
  return errno;
}

/* Several processes share one scene: every effect from outside is a line of the file FAKEMAC_STATE. Each process reads
   the scene file, and then applies the same lines in the same order. */
#include "record.h"
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int file = -1;
static off_t known;
static char *opened;

void effect_replay(const Json *effect, double at);

void journal_start(void) {
  const char *path = getenv("FAKEMAC_STATE");
  if (file >= 0) close(file);
  free(opened);
  opened = path ? strdup(path) : NULL;
  file = path ? open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (path && file < 0) perror(path);
  known = 0;
  if (file < 0) return;
  /* The first process starts the clock of the effects in "meanwhile". */
  struct stat status;
  flock(file, LOCK_EX);
  if (!fstat(file, &status) && status.st_size == 0) {
    char line[80];
    int length = snprintf(line, sizeof line, "{\"do\":\"begin\",\"at\":%.3f}\n", now_ms());
    if (write(file, line, (size_t)length) != length) perror(path);
  }
  flock(file, LOCK_UN);
}

bool journal_shared(void) { return file >= 0; }

/** Applies the complete lines that are new. */
static void follow(void) {
  struct stat status;
  if (fstat(file, &status) || status.st_size <= known) return;
  size_t length = (size_t)(status.st_size - known);
  char *text = malloc(length + 1);
  ssize_t got = pread(file, text, length, known);
  if (got <= 0) {
    free(text);
    return;
  }
  text[got] = 0;
  for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    known += end + 1 - line;
    Text error = {0};
    Json *effect = json_parse(line, &error);
    if (!effect) fatal("scene", "%s: %s", opened, error.chars);
    effect_replay(effect, json_number(effect, "at", 0));
    json_free(effect);
  }
  free(text);
}

void journal_sync(void) {
  if (file >= 0) follow();
}

void journal_add(const Json *effect) {
  if (file < 0) return;
  flock(file, LOCK_EX);
  follow();
  Text line = {0};
  json_print(&line, effect);
  text_add(&line, "\n");
  if (write(file, line.chars, line.length) == (ssize_t)line.length) known += (off_t)line.length;
  else perror(opened);
  flock(file, LOCK_UN);
  text_free(&line);
}

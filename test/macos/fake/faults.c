#include "faults.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS 32

static struct {
  char name[64]; /* empty: any call */
  long at, seen;
  Fault fault;
} plan[MAX_FAULTS];
static int planned;

void faults_plan(const char *spec) {
  planned = 0;
  char *copy = spec ? strdup(spec) : NULL, *rest = copy, *item;
  while (rest && planned < MAX_FAULTS && (item = strsep(&rest, ","))) {
    char *colon = strrchr(item, ':'), *slash = strchr(item, '/');
    if (!*item) continue;
    if (!colon) {
      fatal("scene", "FAKEMAC_FAIL wants [name/]number:code, not '%s'", item);
      continue;
    }
    *colon = 0;
    const char *code = colon + 1;
    snprintf(plan[planned].name, sizeof plan[planned].name, "%.*s", slash ? (int)(slash - item) : 0, item);
    plan[planned].at = strtol(slash ? slash + 1 : item, NULL, 10);
    plan[planned].seen = 0;
    plan[planned].fault = (Fault){.hang = !strcmp(code, "hang"), .dead = !strcmp(code, "dead"), .error = (AXError)strtol(code, NULL, 10)};
    planned++;
  }
  free(copy);
}

Fault fault_now(const char *symbol, const char *const *names, int count) {
  Fault found = {0};
  for (int i = 0; i < planned; i++) {
    bool fits = !plan[i].name[0] || !strcmp(plan[i].name, symbol);
    for (int j = 0; !fits && j < count; j++) fits = !strcmp(plan[i].name, names[j]);
    if (fits && (++plan[i].seen == plan[i].at || !plan[i].at)) found = plan[i].fault;
  }
  return found;
}

API void fakemac_fail(const char *spec) {
  ENTER;
  faults_plan(spec);
}

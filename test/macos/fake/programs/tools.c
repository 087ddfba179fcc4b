/* The programs of macOS that the adapter may run. This program is all of them: its name says which. */
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

int fakemac_capture(const char *path, uint32_t window, int display, const double *area);
int fakemac_apply(const char *effects);
int fakemac_run(const char *program, const char *arguments);
const char *fakemac_pasteboard(void);
bool fakemac_installed(const char *name);

/* A value follows its flag in the next word or in the same one: "-l 12", "-l12". */
static const char *value_of(int count, char **arguments, int *at) {
  if (arguments[*at][2]) return arguments[*at] + 2;
  return *at + 1 < count ? arguments[++*at] : "";
}

static int screencapture(int count, char **arguments) {
  uint32_t window = 0;
  int display = 0;
  double area[4];
  bool area_given = false;
  const char *path = NULL, *type = "png";
  for (int i = 1; i < count; i++) {
    if (arguments[i][0] != '-') path = arguments[i];
    else if (arguments[i][1] == 'l') window = (uint32_t)strtoul(value_of(count, arguments, &i), NULL, 10);
    else if (arguments[i][1] == 'D') display = atoi(value_of(count, arguments, &i));
    else if (arguments[i][1] == 't') type = value_of(count, arguments, &i);
    else if (arguments[i][1] == 'R')
      area_given = sscanf(value_of(count, arguments, &i), "%lf,%lf,%lf,%lf", area, area + 1, area + 2, area + 3) == 4;
  }
  if (!path) return fputs("screencapture: no file specified\n", stderr), 1;
  if (strcmp(type, "png")) return fprintf(stderr, "screencapture: only png here, not %s\n", type), 1;
  if (fakemac_capture(path, window, display, area_given ? area : NULL) == 0) return 0;
  fputs(window ? "could not create image from window\n" : "could not create image from display\n", stderr);
  return 1;
}

static int open_app(int count, char **arguments) {
  const char *app = NULL;
  bool background = false, fresh = false;
  for (int i = 1; i < count && strcmp(arguments[i], "--args"); i++) {
    if (!strcmp(arguments[i], "-a") || !strcmp(arguments[i], "-b")) app = i + 1 < count ? arguments[++i] : NULL;
    else if (!strcmp(arguments[i], "-g") || !strcmp(arguments[i], "-j")) background = true;
    else if (!strcmp(arguments[i], "-n")) fresh = true;
    else if (arguments[i][0] != '-') app = arguments[i];
  }
  if (!app || !fakemac_installed(app)) {
    fprintf(stderr, "Unable to find application named '%s'\n", app ? app : "");
    return 1;
  }
  Text effect = {0};
  text_add(&effect, "{\"do\":\"launch\",\"app\":");
  text_quote(&effect, app);
  text_printf(&effect, ",\"background\":%s,\"new\":%s}", background ? "true" : "false", fresh ? "true" : "false");
  return !fakemac_apply(effect.chars);
}

static int pbcopy(void) {
  Text text = {0}, effect = {0};
  char part[4096];
  text_add(&text, "");
  for (size_t got; (got = fread(part, 1, sizeof part, stdin)) > 0;) text_bytes(&text, part, got);
  text_add(&effect, "{\"do\":\"pasteboard\",\"contents\":{\"public.utf8-plain-text\":");
  text_quote(&effect, text.chars);
  text_add(&effect, "}}");
  return !fakemac_apply(effect.chars);
}

int main(int count, char **arguments) {
  const char *name = basename(arguments[0]);
  Text list = {0};
  unsetenv("FAKEMAC_REPORT"); /* it is the report of our caller */
  text_add(&list, "[");
  for (int i = 1; i < count; i++) {
    if (i > 1) text_add(&list, ",");
    text_quote(&list, arguments[i]);
  }
  text_add(&list, "]");
  int planned = fakemac_run(name, list.chars);
  if (planned >= 0) return planned;
  if (!strcmp(name, "screencapture")) return screencapture(count, arguments);
  if (!strcmp(name, "open")) return open_app(count, arguments);
  if (!strcmp(name, "pbcopy")) return pbcopy();
  if (!strcmp(name, "pbpaste")) return fputs(fakemac_pasteboard(), stdout) < 0;
  fprintf(stderr, "%s: not modelled\n", name);
  return 1;
}

#include "record.h"
#include "apple.h"
#include "object.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FINDINGS 500

typedef struct {
  char *kind, *symbol, *detail;
  long count;
} Finding;

typedef struct {
  Finding list[MAX_FINDINGS];
  int count;
} Findings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int depth;
static _Thread_local const char *symbol;

static Counter *counters;
static Findings breaches, notes;
static Text lines; /* the record as it is kept in memory */
static long line_count;
static double slept_us, skipped_ms;
static struct { char name[64]; long count; } attributes[512];
long round_trips;

/* Defined by the files that know the facts. */
void pools_print(Text *text);
void held_print(Text *text);

int call_enter(Counter *counter, const char *name) {
  if (depth++ > 0) return 0;
  pthread_mutex_lock(&lock);
  symbol = name;
  if (!counter->symbol) {
    counter->symbol = name;
    counter->next = counters;
    counters = counter;
  }
  counter->calls++;
  return 1;
}

void call_leave(int *entered) {
  depth--;
  if (!*entered) return;
  symbol = NULL;
  pthread_mutex_unlock(&lock);
}

const char *call_symbol(void) { return symbol ? symbol : "libfakemac"; }

Pause call_pause(void) {
  Pause pause = {depth, symbol};
  if (!depth) return pause;
  depth = 0;
  symbol = NULL;
  pthread_mutex_unlock(&lock);
  return pause;
}

void call_resume(Pause pause) {
  if (!pause.depth) return;
  pthread_mutex_lock(&lock);
  depth = pause.depth;
  symbol = pause.symbol;
}

bool on_main_thread(void) { return gettid() == getpid(); }

static void find(Findings *findings, const char *kind, const char *format, va_list list) {
  char detail[512];
  vsnprintf(detail, sizeof detail, format, list);
  for (int i = 0; i < findings->count; i++) {
    Finding *known = &findings->list[i];
    if (strcmp(known->kind, kind) || strcmp(known->symbol, call_symbol()) || strcmp(known->detail, detail)) continue;
    known->count++;
    return;
  }
  if (findings->count == MAX_FINDINGS) return;
  findings->list[findings->count++] = (Finding){strdup(kind), strdup(call_symbol()), strdup(detail), 1};
}

void breach(const char *kind, const char *format, ...) {
  va_list list;
  va_start(list, format);
  find(&breaches, kind, format, list);
  va_end(list);
  const char *abort_on = getenv("FAKEMAC_ABORT");
  if (!abort_on || strcmp(abort_on, "always")) return;
  report_save();
  abort();
}

void fatal(const char *kind, const char *format, ...) {
  char detail[512];
  va_list list;
  va_start(list, format);
  find(&breaches, kind, format, list);
  va_end(list);
  const char *abort_on = getenv("FAKEMAC_ABORT");
  if (abort_on && !strcmp(abort_on, "never")) return;
  va_start(list, format);
  vsnprintf(detail, sizeof detail, format, list);
  va_end(list);
  fprintf(stderr, "*** Terminating app due to uncaught exception '%s', reason: '%s'\n", kind, detail);
  report_save();
  abort();
}

void note(const char *kind, const char *format, ...) {
  va_list list;
  va_start(list, format);
  find(&notes, kind, format, list);
  va_end(list);
}

Text record_open(const char *kind) {
  Text line = {0};
  text_printf(&line, "{\"n\":%ld,\"process\":%d,\"kind\":\"%s\"", ++line_count, getpid(), kind);
  return line;
}

void record_close(Text *line) {
  text_add(line, "}\n");
  text_bytes(&lines, line->chars, line->length);
  const char *path = getenv("FAKEMAC_RECORD");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    if (write(file, line->chars, line->length) < 0) perror(path);
    close(file);
  }
  text_free(line);
}

void count_attribute(const char *name) {
  unsigned hash = 2166136261u;
  for (const char *at = name; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
  for (int i = 0; i < 512; i++) {
    long *count = &attributes[(hash + (unsigned)i) % 512].count;
    char *known = attributes[(hash + (unsigned)i) % 512].name;
    if (!*count) snprintf(known, 64, "%s", name);
    else if (strncmp(known, name, 63)) continue;
    (*count)++;
    return;
  }
}

double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6 + skipped_ms;
}

void sleep_us(double us) {
  if (us <= 0) return;
  slept_us += us;
  const char *clock = getenv("FAKEMAC_CLOCK");
  if (clock && !strcmp(clock, "virtual")) {
    skipped_ms += us / 1e3;
    return;
  }
  Pause pause = call_pause();
  struct timespec time = {(time_t)(us / 1e6), (long)((us - (double)(time_t)(us / 1e6) * 1e6) * 1e3)};
  while (nanosleep(&time, &time) != 0) {}
  call_resume(pause);
}

static void forget(Findings *findings) {
  for (int i = 0; i < findings->count; i++) {
    free(findings->list[i].kind);
    free(findings->list[i].symbol);
    free(findings->list[i].detail);
  }
  findings->count = 0;
}

void record_reset(void) {
  forget(&breaches);
  forget(&notes);
  text_clear(&lines);
  line_count = 0;
  slept_us = 0;
  round_trips = 0;
  memset(attributes, 0, sizeof attributes);
  for (Counter *counter = counters; counter; counter = counter->next) counter->calls = 0;
  objects_mark();
}

static void findings_print(Text *text, const Findings *findings) {
  text_add(text, "[");
  for (int i = 0; i < findings->count; i++) {
    const Finding *finding = &findings->list[i];
    text_printf(text, "%s{\"kind\":\"%s\",\"symbol\":\"%s\",\"detail\":", i ? "," : "", finding->kind, finding->symbol);
    text_quote(text, finding->detail);
    text_printf(text, ",\"count\":%ld}", finding->count);
  }
  text_add(text, "]");
}

void report_print(Text *text) {
  text_add(text, "{\"violations\":");
  findings_print(text, &breaches);
  text_add(text, ",\"notes\":");
  findings_print(text, &notes);
  text_add(text, ",\"leaks\":");
  leaks_print(text);
  text_add(text, ",\"pools\":");
  pools_print(text);
  text_add(text, ",\"held\":");
  held_print(text);
  text_add(text, ",\"calls\":{");
  const char *separator = "";
  for (Counter *counter = counters; counter; counter = counter->next) {
    if (!counter->calls || !strncmp(counter->symbol, "fakemac_", 8)) continue;
    text_printf(text, "%s\"%s\":%ld", separator, counter->symbol, counter->calls);
    separator = ",";
  }
  text_add(text, "},\"attributes\":{");
  separator = "";
  for (int i = 0; i < 512; i++) {
    if (!attributes[i].count) continue;
    text_add(text, separator);
    text_quote(text, attributes[i].name);
    text_printf(text, ":%ld", attributes[i].count);
    separator = ",";
  }
  text_printf(text, "},\"round_trips\":%ld,\"slept_us\":%.0f,\"objects\":", round_trips, slept_us);
  objects_print(text);
  text_add(text, "}");
}

void report_save(void) {
  const char *path = getenv("FAKEMAC_REPORT");
  if (!path) return;
  Text text = {0};
  report_print(&text);
  text_add(&text, "\n");
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text.chars, text.length) < 0) perror(path);
  if (file >= 0) close(file);
  text_free(&text);
}

static void at_exit(void) { report_save(); }

void record_init(void) {
  /* Bun ends with quick_exit, a C program with exit. */
  atexit(at_exit);
  at_quick_exit(at_exit);
}

API const char *fakemac_report(void) {
  ENTER;
  static Text text;
  text_clear(&text);
  report_print(&text);
  return text.chars;
}

API const char *fakemac_record(void) {
  ENTER;
  return lines.chars ? lines.chars : "";
}

API void fakemac_reset(void) {
  ENTER;
  record_reset();
}

API void fakemac_save_report(void) {
  ENTER;
  report_save();
}

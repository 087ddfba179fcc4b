/* Calls, violations, events and the clock, and the report of all of them. */
#ifndef RECORD_H
#define RECORD_H

#include "text.h"

#include <stdbool.h>

typedef struct Counter Counter;
struct Counter {
  const char *symbol;
  long calls;
  Counter *next;
};

/** First line of every exported function: takes the lock, counts the call and names it in later records. */
#define ENTER                    \
  static Counter counter_;       \
  __attribute__((cleanup(call_leave), unused)) int entered_ = call_enter(&counter_, __func__)

int call_enter(Counter *counter, const char *symbol);
void call_leave(int *entered);
/** The exported function that is running. */
const char *call_symbol(void);

/** Releases the lock around everything that runs the caller's code or waits. */
typedef struct {
  int depth;
  const char *symbol;
} Pause;
Pause call_pause(void);
void call_resume(Pause pause);

bool on_main_thread(void);

/** Records a broken rule: the real frameworks would crash, corrupt memory or misbehave. */
void breach(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Like an uncaught exception: records the violation, reports and aborts (unless FAKEMAC_ABORT=never). */
void fatal(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Records a legal but remarkable call: an argument that gives an error code, a message to nil. */
void note(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** One line of the record: `Text line = record_open("post"); text_printf(&line, ",\"x\":1"); record_close(&line);` */
Text record_open(const char *kind);
void record_close(Text *line);

void count_attribute(const char *name);
extern long round_trips;

double now_ms(void);
/** Lets time pass: really, or only on the clock with FAKEMAC_CLOCK=virtual. Releases the lock meanwhile. */
void sleep_us(double us);

/** Starts a new report at zero. */
void record_reset(void);
void record_init(void);
void report_print(Text *text);
void report_save(void);

#endif

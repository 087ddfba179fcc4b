/* Calls that fail because a test plans it. */
#ifndef FAULTS_H
#define FAULTS_H

#include "apple.h"

#include <stdbool.h>

typedef struct {
  AXError error; /* 0: no fault */
  bool hang;     /* the answer never comes */
  bool dead;     /* the element goes away now */
} Fault;

/** The fault planned for this round trip: by its number, or by the number of calls of that name so far. */
Fault fault_now(const char *symbol, const char *const *names, int count);
/** "7:-25204", "AXUIElementPerformAction/2:hang", "AXChildren/3:dead", separated by commas; NULL for none. */
void faults_plan(const char *spec);

#endif

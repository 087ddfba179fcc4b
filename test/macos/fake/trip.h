/* One message to an application, and its answer. */
#ifndef TRIP_H
#define TRIP_H

#include "accessibility.h"

#define SYSTEM_WIDE 0

typedef struct {
  Object *element;
  Node *node;
  double late_us; /* the application acts, and answers so much later than its answer is awaited */
} Trip;

/** Every failure that is possible before an attribute is looked up. The node is NULL for the system. */
AXError travel(Ref ref, const char *const *names, int count, Trip *trip);
/** The text of a CFString argument; NULL if it is not a CFString. */
const char *name_of(Ref ref, const char *argument);

App *element_app(const Object *element);
/** True if the user granted "accessibility", "screen", "post" or "listen". */
bool trusted(const char *what);
extern float process_timeout;

#endif

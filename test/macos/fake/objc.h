/* Objective-C: a class is a table of methods, and each method is a C function. */
#ifndef OBJC_H
#define OBJC_H

#include "foundation.h"
#include "scene.h"

/** The registers of a message, for arguments and results. The assembly in objc_send.c depends on the layout. */
typedef struct {
  uint64_t integers[2];
  double reals[4];
} Result;

typedef struct {
  Object *self;
  const char *selector;
  uint64_t arguments[4];
  double reals[8];
  Result *result;
} Message;

typedef struct {
  const char *class;
  char level; /* '+' or '-' */
  const char *selector;
  const char *types; /* of the result and the arguments after self and _cmd, as @encode says them */
  void (*run)(Message *message);
} Method;

typedef struct {
  const char *name, *super;
  bool appkit; /* known only once AppKit is loaded */
  Object *object;
} Class;

extern const Method foundation_methods[], pasteboard_methods[], workspace_methods[], screen_methods[];

Class *class_named(const char *name); /* NULL while its framework is not loaded */
Object *class_object(const char *name);
/** An instance owned by the caller. Its state is freed with it. */
Object *instance_new(const char *class, void *state);
bool is_class(const Object *object);
const Method *method_of(const Object *receiver, const char *selector);

/** The argument as an object. NULL: it is nil, or a violation was recorded. */
Object *argument(const Message *message, int index, Kind kind, const char *name);
void answer(Message *message, uint64_t value);
void answer_real(Message *message, double value);
void answer_rect(Message *message, CGRect rect);
/** Returns a borrowed object, or one that the innermost pool will release. NULL is nil. */
void answer_object(Message *message, Object *object);
void answer_autoreleased(Message *message, Object *object);

void objc_init(void);
extern bool appkit_loaded;

#endif

/* Autorelease pools: one stack for each thread. */
#include "foundation.h"
#include "record.h"

#include <stdlib.h>

typedef struct Pool Pool;
struct Pool {
  Object **items;
  long count, room;
  Pool *below;
};

static _Thread_local Pool *top;
static long open_pools;

Object *autorelease(Object *object) {
  if (!top) {
    note("no_pool", "a %s is autoreleased with no pool in place: just leaking", traits[object->kind].name);
    return object;
  }
  if (top->count == top->room) {
    top->room = top->room ? top->room * 2 : 16;
    top->items = realloc(top->items, (size_t)top->room * sizeof *top->items);
  }
  top->items[top->count++] = object_adopt(object);
  return object;
}

void pools_print(Text *text) { text_printf(text, "%ld", open_pools); }

API void *objc_autoreleasePoolPush(void) {
  ENTER;
  Pool *pool = calloc(1, sizeof *pool);
  pool->below = top;
  top = pool;
  open_pools++;
  return pool;
}

API void objc_autoreleasePoolPop(void *token) {
  ENTER;
  Pool *pool = top;
  while (pool && pool != token) pool = pool->below;
  if (!pool) {
    breach("pool", "%p is not an open pool of this thread", token);
    return;
  }
  if (pool != top) breach("pool", "an outer pool is popped before the inner ones");
  for (bool last = false; !last;) {
    Pool *popped = top;
    last = popped == pool;
    top = popped->below;
    open_pools--;
    for (long i = popped->count; i-- > 0;) object_drop(popped->items[i]);
    free(popped->items);
    free(popped);
  }
}

static Ref give_to_pool(Ref ref) {
  Object *object = use(ref, ANY, "object");
  if (!object) return ref;
  if (object->count - object->internal <= 0) breach("over_release", "the caller owns no reference to autorelease");
  else autorelease(object);
  return ref;
}

API Ref CFAutorelease(Ref ref) {
  ENTER;
  return give_to_pool(ref);
}

API Ref objc_autorelease(Ref ref) {
  ENTER;
  return ref ? give_to_pool(ref) : NULL;
}

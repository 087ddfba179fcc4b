/* objc_msgSend: one entry for all messages. Integers and reals arrive in separate registers on both machines, so one C
   function receives every combination. The assembly copies the results into all registers that a caller may read. */
#include "objc.h"
#include "record.h"

#include <string.h>

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".global objc_msgSend\n"
    ".type objc_msgSend, @function\n"
    "objc_msgSend:\n"
    "  subq $8, %rsp\n"
    "  call objc_dispatch\n"
    "  movsd 16(%rax), %xmm0\n"
    "  movsd 24(%rax), %xmm1\n"
    "  movq 8(%rax), %rdx\n"
    "  movq (%rax), %rax\n"
    "  addq $8, %rsp\n"
    "  ret\n"
    ".size objc_msgSend, .-objc_msgSend\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".global objc_msgSend\n"
    ".type objc_msgSend, %function\n"
    "objc_msgSend:\n"
    "  stp x29, x30, [sp, -16]!\n"
    "  mov x29, sp\n"
    "  bl objc_dispatch\n"
    "  ldp d0, d1, [x0, 16]\n"
    "  ldp d2, d3, [x0, 32]\n"
    "  ldp x0, x1, [x0]\n"
    "  ldp x29, x30, [sp], 16\n"
    "  ret\n"
    ".size objc_msgSend, .-objc_msgSend\n");
#endif

static _Thread_local Result result;

static const char *class_of(const Object *object) {
  if (object->kind == INSTANCE) return object->as.extra.class;
  return traits[object->kind].class;
}

static void run(Ref self, Ref selector, const uint64_t *arguments, const double *reals, bool by_pointer) {
  result = (Result){0};
  const char *name = selector;
  if (!self) {
    note("nil", "%s is sent to nil", name ? name : "NULL");
    return;
  }
  if (!name) {
    breach("null", "the selector is NULL");
    return;
  }
  Object *receiver = use(self, ANY, "the receiver");
  if (!receiver) return;
  const Method *method = method_of(receiver, name);
  if (!method) {
    fatal("NSInvalidArgumentException", "%c[%s %s]: unrecognized selector sent to %s", is_class(receiver) ? '+' : '-',
          is_class(receiver) ? ((Class *)receiver->as.extra.state)->name : class_of(receiver), name, is_class(receiver) ? "class" : "instance");
    return;
  }
#if defined(__x86_64__)
  if ((method->types[0] == 'R') != by_pointer) breach("stret", "%s must%s be sent by objc_msgSend_stret", name, by_pointer ? " not" : "");
#else
  (void)by_pointer;
#endif
  Message message = {.self = receiver, .selector = name, .result = &result};
  memcpy(message.arguments, arguments, sizeof message.arguments);
  memcpy(message.reals, reals, sizeof message.reals);
  method->run(&message);
}

/* Has the name of the function that the caller called, for the report. */
static Counter sends;

__attribute__((used, visibility("hidden"))) Result *objc_dispatch(Ref self, Ref selector, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                                                 double r0, double r1, double r2, double r3, double r4, double r5, double r6, double r7) {
  __attribute__((cleanup(call_leave), unused)) int entered = call_enter(&sends, "objc_msgSend");
  run(self, selector, (uint64_t[]){a, b, c, d}, (double[]){r0, r1, r2, r3, r4, r5, r6, r7}, false);
  return &result;
}

#if defined(__x86_64__)
/** For results that are returned in memory: rectangles. */
API double *objc_msgSend_stret(double *out, Ref self, Ref selector, uint64_t a, uint64_t b, uint64_t c) {
  ENTER;
  double reals[8] = {0};
  run(self, selector, (uint64_t[]){a, b, c, 0}, reals, true);
  memcpy(out, result.reals, sizeof result.reals);
  return out;
}
#endif

API void objc_msgSendSuper(void) {
  ENTER;
  fatal("unsupported", "objc_msgSendSuper is not modelled");
}

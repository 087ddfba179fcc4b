/* The runtime: classes, selectors, retain and release. */
#include "objc.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

bool appkit_loaded = true; /* until a test says which frameworks are loaded */

static Class classes[] = {
    {"NSObject", NULL, false, NULL}, {"NSString", "NSObject", false, NULL}, {"NSNumber", "NSObject", false, NULL},
    {"NSNull", "NSObject", false, NULL}, {"NSArray", "NSObject", false, NULL}, {"NSMutableArray", "NSArray", false, NULL},
    {"NSDictionary", "NSObject", false, NULL}, {"NSMutableDictionary", "NSDictionary", false, NULL},
    {"NSData", "NSObject", false, NULL}, {"NSDate", "NSObject", false, NULL}, {"NSURL", "NSObject", false, NULL},
    {"NSError", "NSObject", false, NULL}, {"NSValue", "NSObject", false, NULL}, {"NSAttributedString", "NSObject", false, NULL},
    {"NSAutoreleasePool", "NSObject", false, NULL}, {"NSProcessInfo", "NSObject", false, NULL}, {"NSBundle", "NSObject", false, NULL},
    {"NSApplication", "NSObject", true, NULL}, {"NSPasteboard", "NSObject", true, NULL}, {"NSWorkspace", "NSObject", true, NULL},
    {"NSWorkspaceOpenConfiguration", "NSObject", true, NULL}, {"NSRunningApplication", "NSObject", true, NULL},
    {"NSScreen", "NSObject", true, NULL}, {"NSEvent", "NSObject", true, NULL},
};
#define CLASSES (sizeof classes / sizeof *classes)

static const Method *const tables[] = {foundation_methods, pasteboard_methods, workspace_methods, screen_methods};

static void instance_finalize(Object *object) {
  if (!is_class(object)) free(object->as.extra.state);
}

static bool instance_equal(const Object *a, const Object *b) {
  bool apps = !strcmp(a->as.extra.class, "NSRunningApplication") && !strcmp(b->as.extra.class, "NSRunningApplication");
  return apps && *(int *)a->as.extra.state == *(int *)b->as.extra.state;
}

static void instance_describe(const Object *object, Text *text) { text_printf(text, "<%s>", object->as.extra.class); }

void objc_init(void) {
  traits[INSTANCE] = (Traits){"NSObject", 1, "NSObject", instance_finalize, instance_equal, NULL, instance_describe};
  for (size_t i = 0; i < CLASSES; i++) {
    Object *object = object_constant(object_new(INSTANCE, false));
    object->as.extra.class = "Class";
    object->as.extra.state = &classes[i];
    classes[i].object = object;
  }
}

bool is_class(const Object *object) { return object->kind == INSTANCE && !strcmp(object->as.extra.class, "Class"); }

static Class *find_class(const char *name) {
  for (size_t i = 0; name && i < CLASSES; i++)
    if (!strcmp(classes[i].name, name)) return &classes[i];
  return NULL;
}

Class *class_named(const char *name) {
  Class *class = find_class(name);
  return class && (!class->appkit || appkit_loaded) ? class : NULL;
}

Object *class_object(const char *name) {
  Class *class = class_named(name);
  return class ? class->object : NULL;
}

Object *instance_new(const char *class, void *state) {
  Object *object = object_new(INSTANCE, false);
  object->as.extra.class = class;
  object->as.extra.state = state;
  return object;
}

static const Method *find_method(const char *class, char level, const char *selector) {
  for (; class; class = find_class(class) ? find_class(class)->super : NULL)
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
      for (const Method *method = tables[t]; method->class; method++)
        if (method->level == level && !strcmp(method->selector, selector) && !strcmp(method->class, class)) return method;
  return NULL;
}

const char *os_version(void);

const Method *method_of(const Object *receiver, const char *selector) {
  if (!strcmp(selector, "accessBehavior") && strverscmp(os_version(), "15.4") < 0) return NULL;
  if (!is_class(receiver)) return find_method(receiver->kind == INSTANCE ? receiver->as.extra.class : traits[receiver->kind].class, '-', selector);
  const char *name = ((Class *)receiver->as.extra.state)->name;
  const Method *method = find_method(name, '+', selector);
  return method ? method : find_method("NSObject", '-', selector); /* classes are objects too */
}

Object *argument(const Message *message, int index, Kind kind, const char *name) {
  Ref ref = (Ref)(uintptr_t)message->arguments[index];
  return ref ? use(ref, kind, name) : NULL;
}

void answer(Message *message, uint64_t value) { message->result->integers[0] = value; }
void answer_real(Message *message, double value) { message->result->reals[0] = value; }
void answer_rect(Message *message, CGRect rect) { memcpy(message->result->reals, &rect, sizeof rect); }
void answer_object(Message *message, Object *object) { answer(message, (uint64_t)(uintptr_t)ref_of(object)); }
void answer_autoreleased(Message *message, Object *object) { answer_object(message, object ? autorelease(object) : NULL); }

/* Selectors are unique strings */

API Ref sel_registerName(const char *name) {
  ENTER;
  static struct { char **names; size_t count, room; } known;
  if (!name) {
    breach("null", "the name is NULL");
    return NULL;
  }
  for (size_t i = 0; i < known.count; i++)
    if (!strcmp(known.names[i], name)) return known.names[i];
  if (known.count == known.room) known.names = realloc(known.names, (known.room = known.room ? known.room * 2 : 64) * sizeof *known.names);
  return known.names[known.count++] = strdup(name);
}

API Ref sel_getUid(const char *name) { return sel_registerName(name); }
API const char *sel_getName(Ref selector) { return selector ? selector : "<null selector>"; }
API int8_t sel_isEqual(Ref a, Ref b) { return a == b; }

/* Classes */

API Ref objc_getClass(const char *name) {
  ENTER;
  return ref_of(class_object(name));
}

API Ref objc_lookUpClass(const char *name) {
  ENTER;
  return ref_of(class_object(name));
}

API Ref objc_getProtocol(const char *name) {
  ENTER;
  (void)name;
  return NULL;
}

API Ref NSClassFromString(Ref ref) {
  ENTER;
  Object *name = use(ref, STRING, "aClassName");
  return name ? ref_of(class_object(string_utf8(name))) : NULL;
}

static Class *class_in(Ref ref) {
  Object *object = use(ref, INSTANCE, "cls");
  if (object && !is_class(object)) breach("wrong_type", "cls is an instance");
  return object && is_class(object) ? object->as.extra.state : NULL;
}

API Ref NSStringFromClass(Ref ref) {
  ENTER;
  Class *class = class_in(ref);
  return class ? ref_of(autorelease(string_new(class->name))) : NULL;
}

API const char *class_getName(Ref ref) {
  ENTER;
  Class *class = ref ? class_in(ref) : NULL;
  return class ? class->name : "nil";
}

static const char *class_name(Ref ref) {
  Object *object = ref ? use(ref, ANY, "obj") : NULL;
  if (!object) return NULL;
  if (is_class(object)) return ((Class *)object->as.extra.state)->name;
  return object->kind == INSTANCE ? object->as.extra.class : traits[object->kind].class;
}

API Ref object_getClass(Ref ref) {
  ENTER;
  const char *name = class_name(ref);
  return name ? ref_of(find_class(name)->object) : NULL;
}

API const char *object_getClassName(Ref ref) {
  ENTER;
  const char *name = class_name(ref);
  return name ? name : "nil";
}

static const Method *class_method(Ref class, char level, Ref selector) {
  Class *known = class ? class_in(class) : NULL;
  return known && selector ? find_method(known->name, level, selector) : NULL;
}

API int8_t class_respondsToSelector(Ref class, Ref selector) {
  ENTER;
  return class_method(class, '-', selector) != NULL;
}

API Ref class_getInstanceMethod(Ref class, Ref selector) {
  ENTER;
  return class_method(class, '-', selector);
}

API Ref class_getClassMethod(Ref class, Ref selector) {
  ENTER;
  return class_method(class, '+', selector);
}

void objc_msgSend(void);

/* Every implementation is called through objc_msgSend, which gets self and _cmd as for any other message. */
API void *class_getMethodImplementation(Ref class, Ref selector) {
  ENTER;
  return class_method(class, '-', selector) ? (void *)objc_msgSend : NULL;
}

API void *method_getImplementation(const Method *method) { return method ? (void *)objc_msgSend : NULL; }
API const char *method_getTypeEncoding(const Method *method) { return method ? method->types : NULL; }

static void *no_new_classes(void) {
  fatal("unsupported", "new classes are not modelled");
  return NULL;
}

API void *objc_allocateClassPair(Ref super, const char *name, size_t extra) {
  ENTER;
  (void)super, (void)name, (void)extra;
  return no_new_classes();
}

API void objc_registerClassPair(Ref class) {
  ENTER;
  (void)class;
  no_new_classes();
}

API int8_t class_addMethod(Ref class, Ref selector, void *implementation, const char *types) {
  ENTER;
  (void)class, (void)selector, (void)implementation, (void)types;
  no_new_classes();
  return 0;
}

API void *objc_setUncaughtExceptionHandler(void *function) { return (void)function, NULL; }
API void *objc_setExceptionPreprocessor(void *function) { return (void)function, NULL; }

/* References: nil is allowed here, unlike in CFRetain and CFRelease */

API Ref objc_retain(Ref ref) {
  ENTER;
  Object *object = ref ? use(ref, ANY, "obj") : NULL;
  if (object) object_own(object);
  return ref;
}

API void objc_release(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

API int8_t NSApplicationLoad(void) {
  ENTER;
  return 1;
}

/* CoreFoundation values that this library itself makes and reads. */
#ifndef FOUNDATION_H
#define FOUNDATION_H

#include "object.h"

/** The caller owns the result of every function named `_new`. UTF-8 may contain lone surrogates (WTF-8). */
Object *string_new(const char *utf8);
Object *string_new_units(const uint16_t *units, CFIndex length);
const char *string_utf8(const Object *string);
bool string_is(const Object *string, const char *utf8);
/** A constant for an exported variable. */
Ref string_constant(const char *utf8);

Object *number_new_integer(int64_t value);
Object *number_new_double(double value);
double number_value(const Object *number);
Object *boolean(bool value); /* borrowed */
Object *date_new(double seconds_since_2001);

Object *array_new(CFIndex room);
void array_push(Object *array, Object *item);       /* holds the item */
void array_push_new(Object *array, Object *item);   /* takes over the caller's reference */
Object *array_item(const Object *array, CFIndex index); /* NULL if the object was freed */

Object *dictionary_new(void);
void dictionary_put(Object *dictionary, Object *key, Object *value); /* holds both */
void dictionary_put_new(Object *dictionary, const char *key, Object *value);
Object *dictionary_find(const Object *dictionary, const Object *key);
Object *dictionary_get(const Object *dictionary, const char *key);

Object *bytes_new(const void *bytes, CFIndex length);
void bytes_append(Object *data, const void *bytes, CFIndex length);
Object *attributed_new(Object *string); /* takes over the caller's reference */
/** Sets the attributes of the characters from `start` to `end`. Characters outside of the string are ignored. */
void attributed_put(Object *attributed, CFIndex start, CFIndex end, Object *attributes);
/** 2 numbers: grey and alpha. 4: RGB and alpha. 5: CMYK and alpha. */
Object *color_new(const double *components, int count);
Object *url_new(const char *url);
Object *url_new_path(const char *path);
char *url_path(const Object *url); /* to be freed; NULL if it is not a file URL */

extern Ref kCFBooleanTrue, kCFBooleanFalse, kCFNull, kCFRunLoopDefaultMode, kCFRunLoopCommonModes;

/** Releases the reference at the end of the innermost pool. */
Object *autorelease(Object *object);
void release(Ref ref);

/** Called by the run loop. Delivers one thing, if something is pending. */
typedef struct {
  bool (*fire)(Object *owner);
  Object *owner;
  bool valid;
} SourceState;
Object *source_new(Object *owner, bool (*fire)(Object *owner));

void string_init(void);
void number_init(void);
void collection_init(void);
void value_init(void);
void run_loop_init(void);

#endif

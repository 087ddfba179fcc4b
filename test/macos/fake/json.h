/* Scenes, effects and reports are JSON. A value is a small tree that can be changed. */
#ifndef JSON_H
#define JSON_H

#include "text.h"

#include <stdbool.h>

typedef enum { J_NULL, J_FALSE, J_TRUE, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
  JsonKind kind;
  bool integral;   /* written without point or exponent */
  char *key;       /* as a member of an object */
  char *string;    /* UTF-8; a lone surrogate as WTF-8 */
  double number;
  Json *first, *last, *next;
};

/** NULL if the text is not JSON. Then `error` names the line and the reason. */
Json *json_parse(const char *text, Text *error);
Json *json_clone(const Json *json);
void json_free(Json *json);
void json_print(Text *text, const Json *json);

Json *json_get(const Json *object, const char *key);
const char *json_string(const Json *object, const char *key);            /* NULL when absent or no string */
double json_number(const Json *object, const char *key, double fallback);
bool json_true(const Json *object, const char *key);
bool json_has(const Json *array, const char *string);                    /* an array of strings holds it */
double json_at(const Json *array, int index);                            /* 0 when absent */
int json_count(const Json *json);
Json *json_new(JsonKind kind);
Json *json_new_string(const char *string);
Json *json_new_number(double number);
/** Stores `value` under `key`, frees the old value, and returns the new one. */
Json *json_set(Json *object, const char *key, Json *value);
void json_drop(Json *object, const char *key);
Json *json_push(Json *array, Json *value);

#endif

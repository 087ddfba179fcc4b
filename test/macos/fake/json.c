#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *start, *at;
  Text *error;
} Parser;

static Json *parse_value(Parser *p, int depth);

Json *json_new(JsonKind kind) {
  Json *json = calloc(1, sizeof *json);
  json->kind = kind;
  return json;
}

Json *json_new_string(const char *string) {
  Json *json = json_new(J_STRING);
  json->string = strdup(string);
  return json;
}

Json *json_new_number(double number) {
  Json *json = json_new(J_NUMBER);
  json->number = number;
  json->integral = number == floor(number) && fabs(number) < 9e15;
  return json;
}

void json_free(Json *json) {
  if (!json) return;
  for (Json *child = json->first, *next; child; child = next) {
    next = child->next;
    json_free(child);
  }
  free(json->key);
  free(json->string);
  free(json);
}

Json *json_clone(const Json *json) {
  Json *copy = json_new(json->kind);
  copy->integral = json->integral;
  copy->number = json->number;
  copy->string = json->string ? strdup(json->string) : NULL;
  for (const Json *child = json->first; child; child = child->next) {
    Json *made = json_push(copy, json_clone(child));
    made->key = child->key ? strdup(child->key) : NULL;
  }
  return copy;
}

Json *json_push(Json *array, Json *value) {
  if (array->last) array->last->next = value;
  else array->first = value;
  array->last = value;
  return value;
}

Json *json_get(const Json *object, const char *key) {
  if (!object || object->kind != J_OBJECT) return NULL;
  for (Json *child = object->first; child; child = child->next)
    if (!strcmp(child->key, key)) return child;
  return NULL;
}

void json_drop(Json *object, const char *key) {
  Json *before = NULL;
  for (Json *child = object->first; child; before = child, child = child->next) {
    if (strcmp(child->key, key)) continue;
    if (before) before->next = child->next;
    else object->first = child->next;
    if (object->last == child) object->last = before;
    json_free(child);
    return;
  }
}

Json *json_set(Json *object, const char *key, Json *value) {
  json_drop(object, key);
  value->key = strdup(key);
  return json_push(object, value);
}

const char *json_string(const Json *object, const char *key) {
  Json *value = json_get(object, key);
  return value && value->kind == J_STRING ? value->string : NULL;
}

double json_number(const Json *object, const char *key, double fallback) {
  Json *value = json_get(object, key);
  return value && value->kind == J_NUMBER ? value->number : fallback;
}

bool json_true(const Json *object, const char *key) {
  Json *value = json_get(object, key);
  return value && value->kind == J_TRUE;
}

bool json_has(const Json *array, const char *string) {
  if (!array || array->kind != J_ARRAY) return false;
  for (Json *child = array->first; child; child = child->next)
    if (child->kind == J_STRING && !strcmp(child->string, string)) return true;
  return false;
}

double json_at(const Json *array, int index) {
  Json *child = array ? array->first : NULL;
  while (child && index--) child = child->next;
  return child && child->kind == J_NUMBER ? child->number : 0;
}

int json_count(const Json *json) {
  int count = 0;
  for (Json *child = json ? json->first : NULL; child; child = child->next) count++;
  return count;
}

static Json *fail(Parser *p, const char *why) {
  if (p->error && !p->error->length) {
    int line = 1;
    for (const char *at = p->start; at < p->at; at++) line += *at == '\n';
    text_printf(p->error, "line %d: %s", line, why);
  }
  return NULL;
}

static void skip(Parser *p) {
  while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r') p->at++;
}

static int hex4(const char *at) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

static char *parse_string(Parser *p) {
  Text text = {0};
  text_add(&text, "");
  for (p->at++; *p->at != '"'; p->at++) {
    if ((unsigned char)*p->at < 0x20) goto bad;
    if (*p->at != '\\') {
      text_bytes(&text, p->at, 1);
      continue;
    }
    char c = *++p->at;
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) text_bytes(&text, &meant[letter - letters], 1);
    else if (c == 'u') {
      uint16_t units[2];
      int unit = hex4(p->at + 1), count = 1;
      if (unit < 0) goto bad;
      units[0] = (uint16_t)unit;
      p->at += 4;
      if (unit >= 0xd800 && unit < 0xdc00 && p->at[1] == '\\' && p->at[2] == 'u' && hex4(p->at + 3) >= 0xdc00 && hex4(p->at + 3) < 0xe000) {
        units[count++] = (uint16_t)hex4(p->at + 3);
        p->at += 6;
      }
      char *utf8 = utf8_from_utf16(units, (size_t)count, 0);
      text_add(&text, utf8);
      free(utf8);
    } else goto bad;
  }
  p->at++;
  return text.chars;
bad:
  text_free(&text);
  fail(p, "bad string");
  return NULL;
}

static Json *parse_members(Parser *p, JsonKind kind, char close, int depth) {
  Json *json = json_new(kind);
  p->at++;
  skip(p);
  if (*p->at == close) {
    p->at++;
    return json;
  }
  for (;;) {
    char *key = NULL;
    skip(p);
    if (kind == J_OBJECT) {
      if (*p->at != '"' || !(key = parse_string(p))) goto bad;
      skip(p);
      if (*p->at++ != ':') {
        free(key);
        goto bad;
      }
    }
    Json *value = parse_value(p, depth + 1);
    if (!value) {
      free(key);
      goto bad;
    }
    value->key = key;
    json_push(json, value);
    skip(p);
    if (*p->at == ',') {
      p->at++;
      continue;
    }
    if (*p->at++ == close) return json;
    goto bad;
  }
bad:
  json_free(json);
  return fail(p, kind == J_OBJECT ? "bad object" : "bad array");
}

static Json *parse_number(Parser *p) {
  char *end;
  double number = strtod(p->at, &end);
  if (end == p->at) return fail(p, "unexpected character");
  Json *json = json_new(J_NUMBER);
  json->number = number;
  json->integral = true;
  for (const char *at = p->at; at < end; at++)
    if (*at == '.' || *at == 'e' || *at == 'E') json->integral = false;
  p->at = end;
  return json;
}

static Json *parse_value(Parser *p, int depth) {
  skip(p);
  if (depth > 200) return fail(p, "too deep");
  if (*p->at == '{') return parse_members(p, J_OBJECT, '}', depth);
  if (*p->at == '[') return parse_members(p, J_ARRAY, ']', depth);
  if (*p->at == '"') {
    char *string = parse_string(p);
    if (!string) return NULL;
    Json *json = json_new(J_STRING);
    json->string = string;
    return json;
  }
  static const struct { const char *word; JsonKind kind; } words[] = {{"null", J_NULL}, {"true", J_TRUE}, {"false", J_FALSE}};
  for (int i = 0; i < 3; i++) {
    size_t length = strlen(words[i].word);
    if (strncmp(p->at, words[i].word, length)) continue;
    p->at += length;
    return json_new(words[i].kind);
  }
  return parse_number(p);
}

Json *json_parse(const char *text, Text *error) {
  Parser p = {text, text, error};
  Json *json = parse_value(&p, 0);
  skip(&p);
  if (json && *p.at) {
    json_free(json);
    return fail(&p, "something after the value");
  }
  return json;
}

void json_print(Text *text, const Json *json) {
  switch (json->kind) {
    case J_NULL: text_add(text, "null"); return;
    case J_TRUE: text_add(text, "true"); return;
    case J_FALSE: text_add(text, "false"); return;
    case J_STRING: text_quote(text, json->string); return;
    case J_NUMBER:
      if (json->integral) text_printf(text, "%.0f", json->number);
      else {
        text_printf(text, "%.17g", json->number);
        /* A float must stay a float when it is read again: 2.0 is not written as 2. */
        if (json->number == floor(json->number) && fabs(json->number) < 1e16) text_add(text, ".0");
      }
      return;
    case J_ARRAY:
    case J_OBJECT:
      text_add(text, json->kind == J_ARRAY ? "[" : "{");
      for (const Json *child = json->first; child; child = child->next) {
        if (child != json->first) text_add(text, ",");
        if (json->kind == J_OBJECT) {
          text_quote(text, child->key);
          text_add(text, ":");
        }
        json_print(text, child);
      }
      text_add(text, json->kind == J_ARRAY ? "]" : "}");
  }
}

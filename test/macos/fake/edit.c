/* Editable text: value, selection and caret of one node. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

static long units_of(const Node *node, uint16_t **units) {
  Json *value = node_get(node, "AXValue");
  const char *text = value && value->kind == J_STRING ? value->string : "";
  return utf16_from_utf8(text, strlen(text), 0, units);
}

bool is_editable(const Node *node) { return node_flag(node, "editable", false); }

static bool below(const Node *node, const char *key, const char *value) {
  for (const Node *at = node->parent; at; at = at->parent) {
    Json *found = node_get(at, key);
    if (found && found->kind == J_STRING && !strcmp(found->string, value)) return true;
  }
  return false;
}

bool in_page(const Node *node) { return below(node, "AXRole", "AXWebArea"); }

bool drops_text(const Node *node, const char *attribute) {
  if (strcmp(attribute, "AXSelectedText") || !is_editable(node) || in_page(node)) return false;
  bool edited = node_flag(node, "multiline", false) || node->app->focused == node;
  return !edited || below(node, "AXSubrole", "iOSContentGroup");
}

long text_length(const Node *node) {
  uint16_t *units;
  long length = units_of(node, &units);
  free(units);
  return length;
}

CFRange selection(const Node *node) {
  long length = text_length(node);
  Json *range = json_get(node_get(node, "AXSelectedTextRange"), "$range");
  if (!range) return (CFRange){length, 0};
  long location = (long)json_at(range, 0), count = (long)json_at(range, 1);
  if (location > length) location = length;
  return (CFRange){location, location + count > length ? length - location : count};
}

void select_range(Node *node, CFRange range) {
  Json *value = json_new(J_OBJECT), *pair = json_set(value, "$range", json_new(J_ARRAY));
  json_push(pair, json_new_number((double)range.location));
  json_push(pair, json_new_number((double)range.length));
  node_set(node, "AXSelectedTextRange", value);
}

char *selected_text(const Node *node) {
  uint16_t *units;
  units_of(node, &units);
  CFRange range = selection(node);
  char *text = utf8_from_utf16(units + range.location, (size_t)range.length, 0);
  free(units);
  return text;
}

static void replace(Node *node, CFRange range, const char *utf8) {
  uint16_t *units, *added;
  long length = units_of(node, &units), more = utf16_from_utf8(utf8, strlen(utf8), 0, &added);
  long rest = length - range.location - range.length;
  uint16_t *joined = malloc((size_t)(length + more + 1) * sizeof *joined);
  memcpy(joined, units, (size_t)range.location * sizeof *units);
  memcpy(joined + range.location, added, (size_t)more * sizeof *added);
  memcpy(joined + range.location + more, units + range.location + range.length, (size_t)rest * sizeof *units);
  char *text = utf8_from_utf16(joined, (size_t)(range.location + more + rest), 0);
  node_set(node, "AXValue", json_new_string(text));
  select_range(node, (CFRange){range.location + more, 0});
  free(text);
  free(joined);
  free(added);
  free(units);
  notify(node, "AXValueChanged");
  notify(node, "AXSelectedTextChanged");
}

void insert_text(Node *node, const char *utf8) { replace(node, selection(node), utf8); }

void delete_text(Node *node, int units) {
  CFRange range = selection(node);
  if (!range.length && units < 0 && range.location > 0) range = (CFRange){range.location - 1, 1};
  else if (!range.length && units > 0 && range.location < text_length(node)) range.length = 1;
  if (range.length) replace(node, range, "");
}

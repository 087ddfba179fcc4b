/* Effects of writing an attribute, besides storing the value. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

static bool truth_of(const Json *value) {
  return value->kind == J_TRUE || (value->kind == J_NUMBER && value->number != 0);
}

static void move_window(Node *node, const Json *point) {
  CGRect frame = node_frame(node);
  node->shift.x += json_at(point, 0) - frame.origin.x;
  node->shift.y += json_at(point, 1) - frame.origin.y;
  notify(node, "AXWindowMoved");
}

static void resize(Node *node, const Json *size) {
  Json *least = node_get(node, "min_size");
  double width = json_at(size, 0), height = json_at(size, 1);
  if (width < json_at(least, 0)) width = json_at(least, 0);
  if (height < json_at(least, 1)) height = json_at(least, 1);
  node->frame.size = (CGSize){width, height};
  notify(node, "AXWindowResized");
}

/** Selects the rows or children in the value, and deselects all others. */
static void select_only(Node *node, const Json *elements) {
  for (int i = 0; i < node->count; i++) {
    Node *child = node->children[i];
    bool chosen = false;
    for (Json *name = elements ? elements->first : NULL; name; name = name->next)
      chosen = chosen || node_by_name(name->string, node) == child;
    if (node_flag(child, "AXSelected", false) != chosen) node_set(child, "AXSelected", json_new(chosen ? J_TRUE : J_FALSE));
  }
  notify(node, node_is(node, "AXList") ? "AXSelectedChildrenChanged" : "AXSelectedRowsChanged");
}

static void select_one(Node *node, bool chosen) {
  bool many = node->parent && node_flag(node->parent, "multiple", false);
  for (int i = 0; node->parent && chosen && !many && i < node->parent->count; i++) {
    Node *other = node->parent->children[i];
    if (other != node && node_flag(other, "AXSelected", false)) node_set(other, "AXSelected", json_new(J_FALSE));
  }
  node_set(node, "AXSelected", json_new(chosen ? J_TRUE : J_FALSE));
  if (node->parent) notify(node->parent, "AXSelectedRowsChanged");
}

static void write_value(Node *node, Json *value) {
  if (value->kind == J_NUMBER) {
    Json *least = node_get(node, "AXMinValue"), *most = node_get(node, "AXMaxValue"), *old = node_get(node, "AXValue");
    if (least && least->kind == J_NUMBER && value->number < least->number) value->number = least->number;
    if (most && most->kind == J_NUMBER && value->number > most->number) value->number = most->number;
    if (old && old->kind == J_NUMBER) value->integral = old->integral;
  }
  node_set(node, "AXValue", json_clone(value));
  if (is_editable(node)) select_range(node, (CFRange){text_length(node), 0});
  notify(node, "AXValueChanged");
}

void write_attribute(Node *node, const char *attribute, Json *value) {
  bool on = truth_of(value);
  if (!strcmp(attribute, "AXPosition")) move_window(node, json_get(value, "$point"));
  else if (!strcmp(attribute, "AXSize")) resize(node, json_get(value, "$size"));
  else if (!strcmp(attribute, "AXFocused")) {
    if (on && node->number) window_raise(node);
    else if (on && node->app->focused != node) {
      focus(node);
      if (is_editable(node) && !node_flag(node, "multiline", false)) select_range(node, (CFRange){0, text_length(node)});
    }
    else if (!on && node->app->focused == node) node->app->focused = NULL;
  } else if (!strcmp(attribute, "AXFrontmost")) {
    if (on) bring_to_front(node->app);
  } else if (!strcmp(attribute, "AXMain")) {
    if (on) window_raise(node);
    notify(node, "AXMainWindowChanged");
  } else if (!strcmp(attribute, "AXMinimized")) {
    node_set(node, attribute, json_new(on ? J_TRUE : J_FALSE));
    notify(node, on ? "AXWindowMiniaturized" : "AXWindowDeminiaturized");
  } else if (!strcmp(attribute, "AXSelected")) select_one(node, on);
  else if (!strcmp(attribute, "AXSelectedRows") || !strcmp(attribute, "AXSelectedChildren")) {
    select_only(node, json_get(value, "$elements"));
  } else if (!strcmp(attribute, "AXSelectedText")) insert_text(node, value->kind == J_STRING ? value->string : "");
  else if (!strcmp(attribute, "AXSelectedTextRange")) {
    Json *range = json_get(value, "$range");
    select_range(node, (CFRange){(CFIndex)json_at(range, 0), (CFIndex)json_at(range, 1)});
    notify(node, "AXSelectedTextChanged");
  } else if (!strcmp(attribute, "AXValue")) write_value(node, value);
  else if (!json_has(node_get(node, "forgets"), attribute)) node_set(node, attribute, json_clone(value));
  Json *then = json_get(node_get(node, "on"), attribute);
  /* A browser shows written text in a field without telling the page. */
  bool echo = in_page(node) && (!strcmp(attribute, "AXValue") || !strcmp(attribute, "AXSelectedText"));
  if (then && !echo) effects_run(then, node);
  json_free(value);
}

/* Reads attributes: from the scene file, derived from the tree, or intentionally wrong. */
#include "accessibility.h"
#include "record.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* Values */

static Object *element_named(const Node *node, const Json *name) {
  char *filled = name && name->kind == J_STRING ? fill_in(node, name->string) : NULL;
  Node *found = filled ? node_by_name(filled, (Node *)node) : NULL;
  free(filled);
  return found ? element_new(found) : NULL;
}

static Object *elements_named(const Node *node, const Json *names) {
  Object *array = array_new(json_count(names));
  for (Json *name = names->first; name; name = name->next) {
    Object *element = element_named(node, name);
    if (element) array_push_new(array, element);
  }
  return array;
}

static Object *special_new(const Node *node, const Json *json, Way way, AXError *error) {
  const Json *first = json->first;
  const char *kind = first->key;
  double numbers[5] = {json_at(first, 0), json_at(first, 1), json_at(first, 2), json_at(first, 3), json_at(first, 4)};
  int64_t range[2] = {(int64_t)numbers[0], (int64_t)numbers[1]}, code = (int64_t)first->number;
  if (!strcmp(kind, "$point")) return ax_value_new(kAXValueCGPointType, numbers, NULL);
  if (!strcmp(kind, "$size")) return ax_value_new(kAXValueCGSizeType, numbers, NULL);
  if (!strcmp(kind, "$rect")) return ax_value_new(kAXValueCGRectType, numbers, NULL);
  if (!strcmp(kind, "$range")) return ax_value_new(kAXValueCFRangeType, NULL, range);
  if (!strcmp(kind, "$placeholder")) return ax_value_new(kAXValueAXErrorType, NULL, &code);
  if (!strcmp(kind, "$element")) {
    Object *element = element_named(node, first);
    if (!element) *error = kAXErrorNoValue;
    return element;
  }
  if (!strcmp(kind, "$elements")) return elements_named(node, first);
  if (!strcmp(kind, "$url")) return url_new(first->string);
  if (!strcmp(kind, "$date")) return date_new(first->number);
  if (!strcmp(kind, "$float")) return number_new_double(first->number);
  if (!strcmp(kind, "$color")) return color_new(numbers, json_count(first));
  if (!strcmp(kind, "$cfnull")) return object_own(peek(kCFNull));
  if (!strcmp(kind, "$attributed")) {
    char *text = fill_in(node, first->string);
    Object *attributed = attributed_new(string_new(text));
    free(text);
    return attributed;
  }
  if (!strcmp(kind, "$error")) {
    *error = (AXError)first->number;
    return NULL;
  }
  if (kind[0] == '$') fatal("scene", "there is no value '%s'", kind);
  Object *dictionary = dictionary_new();
  for (; first; first = first->next) {
    Object *value = value_new(node, first, way, error);
    if (value) dictionary_put_new(dictionary, first->key, value);
  }
  *error = kAXErrorSuccess;
  return dictionary;
}

Object *value_new(const Node *node, const Json *json, Way way, AXError *error) {
  *error = kAXErrorSuccess;
  switch (json->kind) {
    case J_TRUE:
    case J_FALSE: return object_own(boolean(json->kind == J_TRUE));
    case J_NUMBER: return json->integral ? number_new_integer((int64_t)json->number) : number_new_double(json->number);
    case J_STRING: {
      char *text = fill_in(node, json->string);
      Object *string = string_new(text);
      free(text);
      return string;
    }
    case J_ARRAY: {
      Object *array = array_new(json_count(json));
      for (Json *item = json->first; item; item = item->next) {
        Object *value = value_new(node, item, way, error);
        if (value) array_push_new(array, value);
      }
      *error = kAXErrorSuccess;
      return array;
    }
    case J_OBJECT:
      if (json->first) return special_new(node, json, way, error);
      return dictionary_new();
    case J_NULL: break;
  }
  *error = kAXErrorNoValue;
  return NULL;
}

static Json *pair_json(const char *key, const double *numbers, int count) {
  Json *json = json_new(J_OBJECT), *list = json_set(json, key, json_new(J_ARRAY));
  for (int i = 0; i < count; i++) json_push(list, json_new_number(numbers[i]));
  return json;
}

static Json *element_json(const Object *element) {
  Node *node = element_node(element);
  Text text = {0};
  text_printf(&text, "#%u", node ? node->serial : 0);
  Json *json = json_new_string(text.chars);
  text_free(&text);
  return json;
}

Json *value_to_json(const Object *object) {
  switch (object->kind) {
    case STRING: return json_new_string(string_utf8(object));
    case BOOLEAN: return json_new(object == boolean(true) ? J_TRUE : J_FALSE);
    case NUMBER: {
      Json *json = json_new_number(number_value(object));
      json->integral = !object->as.number.floating;
      return json;
    }
    case ATTRIBUTED:
    case URL: return json_new_string(string_utf8(object->as.holder.inner));
    case ELEMENT: {
      Json *json = json_new(J_OBJECT);
      json_set(json, "$element", element_json(object));
      return json;
    }
    case AX_VALUE: {
      static const char *keys[] = {"", "$point", "$size", "$rect", "$range", "$placeholder"};
      double range[2] = {(double)object->as.ax_value.integers[0], (double)object->as.ax_value.integers[1]};
      uint32_t type = object->as.ax_value.type;
      if (type == kAXValueCFRangeType) return pair_json(keys[type], range, 2);
      return pair_json(keys[type], object->as.ax_value.numbers, type == kAXValueCGRectType ? 4 : 2);
    }
    case ARRAY: {
      bool elements = array_item(object, 0) && array_item(object, 0)->kind == ELEMENT;
      Json *list = json_new(J_ARRAY), *json = list;
      for (CFIndex i = 0; i < object->as.array.count; i++) {
        Object *item = array_item(object, i);
        if (item) json_push(list, elements ? element_json(item) : value_to_json(item));
      }
      if (elements || !object->as.array.count) json_set(json = json_new(J_OBJECT), "$elements", list);
      return json;
    }
    default: return json_new(J_NULL);
  }
}

/* Attributes derived from the tree */

typedef bool (*Wanted)(const Node *child);

static bool any(const Node *child) { return node_shows(child); }
static bool a_window(const Node *child) { return child->number && node_shows(child) && node_is(child, "AXWindow"); }
static bool a_row(const Node *child) { return node_shows(child) && node_is(child, "AXRow"); }
static bool a_column(const Node *child) { return node_shows(child) && node_is(child, "AXColumn"); }
static bool selected(const Node *child) { return node_shows(child) && node_flag(child, "AXSelected", false); }
static bool visible(const Node *child) {
  return node_shows(child) && (!child->framed || rects_meet(node_frame(child), clip_of(child)));
}
static bool visible_row(const Node *child) { return a_row(child) && visible(child); }

static Object *children_new(const Node *node, Wanted wanted) {
  Object *array = array_new(node->count);
  for (int i = 0; i < node->count; i++)
    if (wanted(node->children[i])) array_push_new(array, element_new(node->children[i]));
  return array;
}

static Object *windows_new(const App *app) {
  Node **windows;
  int count = windows_stacked(&windows);
  Object *array = array_new(count);
  for (int i = 0; i < count; i++)
    if (windows[i]->app == app && windows[i]->parent == app->root && a_window(windows[i])) array_push_new(array, element_new(windows[i]));
  return array;
}

static Node *child_with(const Node *node, const char *key, const char *value) {
  for (int i = 0; i < node->count; i++) {
    Json *found = node_get(node->children[i], key);
    if (found && found->kind == J_STRING && !strcmp(found->string, value)) return node->children[i];
  }
  return NULL;
}

static Object *element_or_nothing(const Node *node, AXError *error) {
  if (!node) *error = kAXErrorNoValue;
  return node ? element_new(node) : NULL;
}

static bool has_rows(const Node *node) { return node_is(node, "AXTable") || node_is(node, "AXOutline"); }

/** The window that has the keyboard: for AppKit, the sheet or popover on top of the window in front. */
static Node *key_window(const App *app) {
  Node **windows, *front = window_in_front(app);
  int count = windows_stacked(&windows);
  for (int i = 0; front && i < count; i++) {
    Node *window = windows[i];
    bool over = node_is(window, "AXSheet") || node_is(window, "AXPopover");
    for (Node *at = window->parent; over && at; at = at->parent)
      if (at == front && node_shows(window) && window_on_screen(window)) return window;
  }
  return front;
}

static Object *app_attribute(const Node *root, const char *name, AXError *error) {
  const App *app = root->app;
  if (!strcmp(name, "AXWindows")) return windows_new(app);
  if (!strcmp(name, "AXFocusedWindow")) return element_or_nothing(key_window(app), error);
  if (!strcmp(name, "AXMainWindow")) return element_or_nothing(window_in_front(app), error);
  if (!strcmp(name, "AXMenuBar")) return element_or_nothing(child_with(root, "AXRole", "AXMenuBar"), error);
  if (!strcmp(name, "AXFocusedUIElement")) return element_or_nothing(app->focused ? app->focused : window_in_front(app), error);
  if (!strcmp(name, "AXFrontmost")) return object_own(boolean(scene.front == app->pid));
  if (!strcmp(name, "AXHidden")) return object_own(boolean(node_flag(root, "AXHidden", false)));
  *error = kAXErrorAttributeUnsupported;
  return NULL;
}

static Object *window_attribute(const Node *window, const char *name, AXError *error) {
  static const char *buttons[] = {"AXCloseButton", "AXMinimizeButton", "AXZoomButton", "AXFullScreenButton"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, buttons[i])) return element_or_nothing(child_with(window, "AXSubrole", name), error);
  if (!strcmp(name, "AXMain")) return object_own(boolean(window_in_front(window->app) == window));
  if (!strcmp(name, "AXFocused"))
    return object_own(boolean(window_in_front(window->app) == window && scene.front == window->app->pid));
  *error = kAXErrorAttributeUnsupported;
  return NULL;
}

static Object *text_attribute(const Node *node, const char *name, AXError *error) {
  static const char *const names[] = {"AXSelectedText", "AXSelectedTextRange", "AXNumberOfCharacters"};
  bool known = false;
  for (int i = 0; i < 3; i++) known = known || !strcmp(name, names[i]);
  if (!known || !is_editable(node)) {
    *error = kAXErrorAttributeUnsupported;
    return NULL;
  }
  if (!strcmp(name, "AXSelectedText")) {
    char *text = selected_text(node);
    Object *string = string_new(text);
    free(text);
    return string;
  }
  if (!strcmp(name, "AXSelectedTextRange")) {
    CFRange range = selection(node);
    return ax_value_new(kAXValueCFRangeType, NULL, (int64_t[]){range.location, range.length});
  }
  return number_new_integer(text_length(node));
}

static Object *framed_attribute(const Node *node, const char *name, AXError *error) {
  if (strcmp(name, "AXPosition") && strcmp(name, "AXSize") && strcmp(name, "AXFrame")) {
    *error = kAXErrorAttributeUnsupported;
    return NULL;
  }
  CGRect frame = node_frame(node);
  double numbers[4] = {frame.origin.x, frame.origin.y, frame.size.width, frame.size.height};
  if (!strcmp(name, "AXPosition")) return ax_value_new(kAXValueCGPointType, numbers, NULL);
  if (!strcmp(name, "AXSize")) return ax_value_new(kAXValueCGSizeType, numbers + 2, NULL);
  return ax_value_new(kAXValueCGRectType, numbers, NULL);
}

static Object *tree_attribute(const Node *node, const char *name, AXError *error) {
  if (!strcmp(name, "AXDOMIdentifier") && in_page(node)) return string_new("");
  if (!strcmp(name, "AXChildren")) return children_new(node, any);
  if (!strcmp(name, "AXParent")) return element_or_nothing(node->parent, error);
  if (!strcmp(name, "AXWindow") || !strcmp(name, "AXTopLevelUIElement")) return element_or_nothing(window_of(node), error);
  if (!strcmp(name, "AXVisibleChildren") && (has_rows(node) || node_is(node, "AXList"))) return children_new(node, visible);
  if (!strcmp(name, "AXSelectedChildren") && node_is(node, "AXList")) return children_new(node, selected);
  if (strstr(name, "Rows") && has_rows(node)) {
    if (!strcmp(name, "AXRows")) return children_new(node, a_row);
    if (!strcmp(name, "AXVisibleRows")) return children_new(node, visible_row);
    if (!strcmp(name, "AXSelectedRows")) return children_new(node, selected);
  }
  if (!strcmp(name, "AXColumns") && has_rows(node)) return children_new(node, a_column);
  if (node->scrolls && !strcmp(name, "AXVerticalScrollBar")) {
    for (int i = 0; i < node->count; i++) {
      Json *orientation = node_get(node->children[i], "AXOrientation");
      bool across = orientation && orientation->kind == J_STRING && !strcmp(orientation->string, "AXHorizontalOrientation");
      if (node_is(node->children[i], "AXScrollBar") && !across) return element_new(node->children[i]);
    }
  }
  if (node->scrolls && !strcmp(name, "AXHorizontalScrollBar"))
    return element_or_nothing(child_with(node, "AXOrientation", "AXHorizontalOrientation"), error);
  *error = kAXErrorAttributeUnsupported;
  return NULL;
}

static Object *focus_attribute(const Node *node, const char *name, AXError *error) {
  if (!strcmp(name, "AXFocused") && node_flag(node, "focusable", false)) return object_own(boolean(node->app->focused == node));
  *error = kAXErrorAttributeUnsupported;
  return NULL;
}

static Object *computed(const Node *node, const char *name, AXError *error) {
  const struct {
    bool fits;
    Object *(*copy)(const Node *node, const char *name, AXError *error);
  } ways[] = {
      {!node->parent, app_attribute}, {node->number != 0, window_attribute}, {true, text_attribute},
      {node->framed, framed_attribute}, {true, focus_attribute}, {true, tree_attribute},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    *error = kAXErrorSuccess;
    Object *value = ways[i].fits ? ways[i].copy(node, name, error) : NULL;
    if (value || (*error && *error != kAXErrorAttributeUnsupported)) return value;
  }
  *error = kAXErrorAttributeUnsupported;
  return NULL;
}

AXError planned_error(const Node *node, const char *name, const char *how) {
  Json *planned = json_get(node_get(node, "errors"), name);
  if (!planned) return kAXErrorSuccess;
  if (planned->kind == J_NUMBER) return (AXError)planned->number;
  return (AXError)json_number(planned, how, kAXErrorSuccess);
}

AXError absence(const Node *node, AXError error) {
  bool vague = error == kAXErrorAttributeUnsupported && node_flag(node, "bare", false);
  return vague ? kAXErrorFailure : error;
}

AXError attribute_copy(const Node *node, const char *name, Way way, Object **value) {
  static const char *hows[] = {"single", "batch", "range"};
  AXError error = planned_error(node, name, hows[way]);
  *value = NULL;
  if (error) return error;
  if (!strcmp(name, "AXValue")) {
    Json *subrole = node_get(node, "AXSubrole");
    if (node_is(node, "AXSecureTextField") || (subrole && subrole->kind == J_STRING && !strcmp(subrole->string, "AXSecureTextField")))
      breach("secure_value", "the value of the secure field %s is read", node_label(node));
  }
  Json *said = node_get(node, name);
  /* A selection is cut to the text, which may have become shorter. */
  if (said && !(!strcmp(name, "AXSelectedTextRange") && is_editable(node))) *value = value_new(node, said, way, &error);
  else if (!strcmp(name, "AXChildren") && !node->count && node_flag(node, "bare", false)) error = kAXErrorFailure;
  else *value = computed(node, name, &error);
  return *value ? kAXErrorSuccess : absence(node, error);
}

bool attribute_supported(const Node *node, const char *name) {
  if (node_get(node, name)) return true;
  AXError error;
  Object *value = computed(node, name, &error);
  if (value) object_disown(value);
  return value || error == kAXErrorNoValue || node_settable(node, name);
}

static const char *const tree_names[] = {
    "AXChildren", "AXParent", "AXWindow", "AXTopLevelUIElement", "AXPosition", "AXSize", "AXFrame", "AXFocused", "AXWindows",
    "AXMainWindow", "AXFocusedWindow", "AXMenuBar", "AXFocusedUIElement", "AXFrontmost", "AXHidden", "AXMain", "AXCloseButton",
    "AXMinimizeButton", "AXZoomButton", "AXFullScreenButton", "AXSelectedText", "AXSelectedTextRange", "AXNumberOfCharacters",
    "AXRows", "AXVisibleRows", "AXSelectedRows", "AXColumns", "AXVisibleChildren", "AXSelectedChildren", "AXVerticalScrollBar",
    "AXHorizontalScrollBar",
};

static void push_name(Object *array, const char *name) {
  for (CFIndex i = 0; i < array->as.array.count; i++)
    if (string_is(array_item(array, i), name)) return;
  array_push_new(array, string_new(name));
}

Object *attribute_names(const Node *node) {
  Object *array = array_new(16);
  const Json *places[] = {node->own, node->proto, node->subrole, node->role};
  for (int i = 0; i < 4; i++)
    for (Json *member = places[i] ? places[i]->first : NULL; member; member = member->next)
      if (!strncmp(member->key, "AX", 2)) push_name(array, member->key);
  for (size_t i = 0; i < sizeof tree_names / sizeof *tree_names; i++) {
    AXError error;
    Object *value = computed(node, tree_names[i], &error);
    if (value || error == kAXErrorNoValue) push_name(array, tree_names[i]);
    if (value) object_disown(value);
  }
  return array;
}

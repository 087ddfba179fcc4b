/* Effects of keyboard, mouse and wheel events on the scene. */
#include "events.h"
#include "keyboard.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_RETURN = 36, KEY_TAB = 48, KEY_SPACE = 49, KEY_DELETE = 51, KEY_ESCAPE = 53, KEY_ENTER = 76, KEY_HOME = 115,
       KEY_FORWARD_DELETE = 117, KEY_END = 119, KEY_LEFT = 123, KEY_RIGHT = 124, KEY_DOWN_ARROW = 125, KEY_UP_ARROW = 126 };

static Node *nearest_with_action(Node *node, const char *action) {
  for (; node; node = node->parent)
    if (node_action(node, action)) return node;
  return NULL;
}

/** Runs the effects of the nearest node that has some for this event: {"on": {"click": […]}}. */
static bool run_own(Node *node, const char *what) {
  for (; node; node = node->parent) {
    Json *effects = json_get(node_get(node, "on"), what);
    if (!effects || !node_flag(node, "AXEnabled", true)) continue;
    effects_run(effects, node);
    return true;
  }
  return false;
}

static Node *focusable(Node *node) {
  for (; node; node = node->parent)
    if (node_flag(node, "focusable", false)) return node;
  return NULL;
}

static Node *row_of(Node *node) {
  for (; node; node = node->parent)
    if (node_is(node, "AXRow")) return node;
  return NULL;
}

static bool menu_open(Node *node) {
  for (int i = 0; i < node->count; i++)
    if (node->children[i]->open || menu_open(node->children[i])) return true;
  return false;
}

static bool in_menu(const Node *node) {
  for (; node; node = node->parent)
    if (node->open) return true;
  return false;
}

/* Mouse */

static void mouse_down(Node *node, CGPoint at, int clicks) {
  scene.pressed = node ? node->serial : 0;
  scene.pressed_at = at;
  if (!node) return;
  if (!in_menu(node) && !node_is(node, "AXMenuBarItem") && menu_open(node->app->root)) {
    close_menus(node->app); /* the click is spent on closing the menu */
    scene.pressed = 0;
    return;
  }
  Node *window = window_of(node);
  if (window && node_is(window, "AXWindow") && !node_flag(window, "nonactivating", false)) {
    bring_to_front(window->app);
    window_raise(window);
  }
  Node *row = row_of(node), *takes_focus = focusable(node);
  if (row && !node_flag(row, "AXSelected", false)) write_attribute(row, "AXSelected", json_new(J_TRUE));
  if (takes_focus) focus(takes_focus);
  if (takes_focus && is_editable(takes_focus)) {
    CFRange all = {0, text_length(takes_focus)}, end = {text_length(takes_focus), 0};
    select_range(takes_focus, clicks >= 2 ? all : end);
  }
}

static void mouse_up(Node *node, CGPoint at, int clicks) {
  Node *from = node_by_serial(scene.pressed);
  scene.pressed = 0;
  if (!from || from->dead) return;
  if (node == from) {
    if (clicks == 2 && run_own(node, "double_click")) return;
    if (clicks == 2 && nearest_with_action(node, "AXOpen")) {
      perform(nearest_with_action(node, "AXOpen"), "AXOpen");
      return;
    }
    if (run_own(node, "click")) return;
    Node *button = nearest_with_action(node, "AXPress");
    if (button) perform(button, "AXPress");
    return;
  }
  double dx = at.x - scene.pressed_at.x, dy = at.y - scene.pressed_at.y;
  if (from->number && node_is(from, "AXWindow") && (dx != 0 || dy != 0)) { /* dragged by its title bar */
    from->shift.x += dx;
    from->shift.y += dy;
    notify(from, "AXWindowMoved");
    return;
  }
  run_own(from, "drag");
  if (node) run_own(node, "drop");
}

static void right_down(Node *node) {
  Node *owner = nearest_with_action(node, "AXShowMenu");
  Node *row = row_of(node);
  if (row) write_attribute(row, "AXSelected", json_new(J_TRUE));
  if (!run_own(node, "right_click") && owner) perform(owner, "AXShowMenu");
}

/* Keys */

static bool item_matches(const Node *item, const char *key, uint64_t flags) {
  char *wanted = node_text(item, "AXMenuItemCmdChar");
  Json *said = node_get(item, "AXMenuItemCmdModifiers");
  int modifiers = said ? (int)said->number : 0;
  bool matches = wanted && !strcasecmp(wanted, key) && !(modifiers & 8) == !!(flags & FLAG_COMMAND) &&
                 !!(modifiers & 1) == !!(flags & FLAG_SHIFT) && !!(modifiers & 2) == !!(flags & FLAG_OPTION) &&
                 !!(modifiers & 4) == !!(flags & FLAG_CONTROL);
  free(wanted);
  return matches;
}

static Node *shortcut(Node *node, const char *key, uint64_t flags) {
  for (int i = 0; i < node->count; i++) {
    Node *child = node->children[i];
    if (node_is(child, "AXMenuItem") && node_flag(child, "AXEnabled", true) && item_matches(child, key, flags)) return child;
    Node *found = shortcut(child, key, flags);
    if (found) return found;
  }
  return NULL;
}

static Node *menu_bar(const App *app) {
  for (int i = 0; i < app->root->count; i++)
    if (node_is(app->root->children[i], "AXMenuBar")) return app->root->children[i];
  return NULL;
}

static void next_focus(App *app, bool back) {
  Node *window = window_in_front(app), *before = NULL, *first = NULL, *last = NULL, *next = NULL;
  bool passed = false;
  for (unsigned i = 0; window && i < scene.count; i++) {
    Node *node = scene.nodes[i];
    if (node->dead || node->app != app || window_of(node) != window || !node_flag(node, "focusable", false)) continue;
    if (!first) first = node;
    if (node == app->focused) {
      before = last;
      passed = true;
    } else if (passed && !next) next = node;
    last = node;
  }
  Node *chosen = back ? (before ? before : last) : next ? next : first;
  if (chosen) focus(chosen);
}

static Node *named_by(const Node *window, const char *attribute) {
  const char *name = window ? json_string(node_get(window, attribute), "$element") : NULL;
  return name ? node_by_name(name, (Node *)window) : NULL;
}

static void press_return(App *app) {
  Node *focused = app->focused, *button = named_by(focused ? window_of(focused) : window_in_front(app), "AXDefaultButton");
  if (focused && node_flag(focused, "multiline", false)) insert_text(focused, "\n");
  else if (button) perform(button, "AXPress");
  else if (focused && node_action(focused, "AXConfirm")) perform(focused, "AXConfirm");
}

static void press_escape(App *app) {
  Node *focused = app->focused, *button = named_by(focused ? window_of(focused) : window_in_front(app), "AXCancelButton");
  if (menu_open(app->root)) close_menus(app);
  else if (button) perform(button, "AXPress");
  else if (focused && node_action(focused, "AXCancel")) perform(focused, "AXCancel");
}

static void paste(Node *node) {
  const char *text = json_string(json_get(scene.json, "pasteboard"), "public.utf8-plain-text");
  if (text) insert_text(node, text);
}

static void copy(const Node *node) {
  char *text = selected_text(node);
  Json *contents = json_set(scene.json, "pasteboard", json_new(J_OBJECT));
  json_set(contents, "public.utf8-plain-text", json_new_string(text));
  scene.pasteboard_changes++;
  free(text);
}

static void edit_command(Node *node, const char *key) {
  if (!strcmp(key, "a")) select_range(node, (CFRange){0, text_length(node)});
  else if (!strcmp(key, "v")) paste(node);
  else if (!strcmp(key, "c") || !strcmp(key, "x")) copy(node);
  if (!strcmp(key, "x")) delete_text(node, -1);
}

/** False for a key without a special meaning. */
static bool special_key(App *app, int key, uint64_t flags) {
  Node *focused = app->focused, *edited = focused && is_editable(focused) ? focused : NULL;
  CFRange range = edited ? selection(edited) : (CFRange){0, 0};
  long end = edited ? text_length(edited) : 0;
  switch (key) {
    case KEY_RETURN:
    case KEY_ENTER: press_return(app); return true;
    case KEY_ESCAPE: press_escape(app); return true;
    case KEY_TAB: next_focus(app, flags & FLAG_SHIFT); return true;
    case KEY_DELETE: if (edited) delete_text(edited, -1); return true;
    case KEY_FORWARD_DELETE: if (edited) delete_text(edited, 1); return true;
    case KEY_LEFT: if (edited) select_range(edited, (CFRange){range.location > 0 ? range.location - 1 : 0, 0}); return true;
    case KEY_RIGHT: if (edited) select_range(edited, (CFRange){range.location < end ? range.location + 1 : end, 0}); return true;
    case KEY_HOME:
    case KEY_UP_ARROW: if (edited) select_range(edited, (CFRange){0, 0}); return true;
    case KEY_END:
    case KEY_DOWN_ARROW: if (edited) select_range(edited, (CFRange){end, 0}); return true;
    case KEY_SPACE:
      if (edited || !focused || !node_action(focused, "AXPress")) return false;
      perform(focused, "AXPress");
      return true;
    default: return false;
  }
}

static void combo_name(int key, uint64_t flags, char *out, size_t room) {
  static const struct { int key; const char *name; } names[] = {
      {KEY_RETURN, "return"}, {KEY_TAB, "tab"}, {KEY_SPACE, "space"}, {KEY_DELETE, "delete"}, {KEY_ESCAPE, "escape"},
      {KEY_LEFT, "left"}, {KEY_RIGHT, "right"}, {KEY_DOWN_ARROW, "down"}, {KEY_UP_ARROW, "up"}};
  bool dead;
  const char *name = layout_key(layout_named(layout_current()), key, 0, &dead);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].key == key) name = names[i].name;
  snprintf(out, room, "key:%s%s%s%s%s", flags & FLAG_COMMAND ? "cmd+" : "", flags & FLAG_CONTROL ? "ctrl+" : "",
           flags & FLAG_OPTION ? "alt+" : "", flags & FLAG_SHIFT ? "shift+" : "", name);
}

static void key_down(App *app, const Json *event) {
  int key = (int)json_number(event, "key", 0);
  uint64_t flags = (uint64_t)json_number(event, "flags", 0);
  const char *text = json_string(event, "text");
  bool own_text = json_true(event, "own_text"), dead;
  Node *focused = app->focused;
  char combo[48];
  combo_name(key, flags, combo, sizeof combo);
  if (!own_text && run_own(focused ? focused : app->root, combo)) return;
  if (flags & (FLAG_COMMAND | FLAG_CONTROL)) {
    const char *plain = layout_key(layout_named(layout_current()), key, 0, &dead);
    Node *bar = menu_bar(app), *item = bar ? shortcut(bar, plain, flags) : NULL;
    if (item) perform(item, "AXPress");
    else if (focused && is_editable(focused)) edit_command(focused, plain);
    return;
  }
  if (own_text && text && (!strcmp(text, "\r") || !strcmp(text, "\n"))) press_return(app);
  else if (own_text && text && !strcmp(text, "\t")) next_focus(app, false);
  else if (!own_text && special_key(app, key, flags)) return;
  else if (focused && is_editable(focused) && text && *text && node_flag(focused, "AXEnabled", true)) insert_text(focused, text);
}

void input_apply(const Json *event) {
  int type = (int)json_number(event, "type", 0), key = (int)json_number(event, "key", 0) & 0xff;
  int button = (int)json_number(event, "button", 0) & 31, clicks = (int)json_number(event, "clicks", 1);
  CGPoint at = {json_number(event, "x", 0), json_number(event, "y", 0)};
  App *app = app_by_pid((int)json_number(event, "pid", scene.front));
  bool down = type == LEFT_DOWN || type == RIGHT_DOWN || type == OTHER_DOWN, up = type == LEFT_UP || type == RIGHT_UP || type == OTHER_UP;
  if (type == KEY_DOWN || type == KEY_UP) scene.keys[key] = type == KEY_DOWN;
  if (type == FLAGS_CHANGED) {
    scene.flags = (uint64_t)json_number(event, "flags", 0);
    scene.keys[key] = (scene.flags & modifier_flag(key)) != 0;
  }
  if (down || up) scene.buttons[button] = down;
  if (down || up || type == MOUSE_MOVED || type == LEFT_DRAGGED || type == RIGHT_DRAGGED || type == OTHER_DRAGGED) scene.cursor = at;
  if (type == KEY_DOWN && app && app->running) key_down(app, event);
  Node *node = down || up || type == SCROLL_WHEEL ? node_at(NULL, at) : NULL;
  if (type == LEFT_DOWN) mouse_down(node, at, clicks);
  else if (type == LEFT_UP) mouse_up(node, at, clicks);
  else if (type == RIGHT_DOWN && node) right_down(node);
  else if (type == SCROLL_WHEEL && node) {
    double unit = json_get(event, "unit") && !strcmp(json_string(event, "unit"), "line") ? 10 : 1;
    Json *effect = effect_new("scroll", node);
    json_set(effect, "pixels", json_new_number(-json_number(event, "dy", 0) * unit));
    effect_apply(effect, node);
    json_set(effect, "pixels", json_new_number(-json_number(event, "dx", 0) * unit));
    json_set(effect, "across", json_new(J_TRUE));
    effect_apply(effect, node);
    json_free(effect);
  }
}

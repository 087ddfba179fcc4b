/* Reactions of applications, windows, menus and scroll areas. */
#include "behaviour.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define READY_MS 150 /* from the start of an application to its first answer */

void focus(Node *node) {
  App *app = node->app;
  if (app->focused == node) return;
  app->focused = node;
  notify(node, "AXFocusedUIElementChanged");
}

void bring_to_front(App *app) {
  Node **windows;
  int count = windows_stacked(&windows);
  Node *own[64];
  int owned = 0;
  for (int i = 0; i < count && owned < 64; i++)
    if (windows[i]->app == app && !windows[i]->parent->parent) own[owned++] = windows[i];
  while (owned-- > 0) window_raise(own[owned]);
  if (scene.front == app->pid) return;
  App *before = app_by_pid(scene.front);
  scene.front = app->pid;
  if (before && before->running) notify(before->root, "AXApplicationDeactivated");
  notify(app->root, "AXApplicationActivated");
}

static void close_below(Node *node) {
  for (int i = 0; i < node->count; i++) {
    Node *child = node->children[i];
    close_below(child);
    if (!child->open) continue;
    child->open = false;
    if (child->parent && node_is(child->parent, "AXMenuBarItem")) node_set(child->parent, "AXSelected", json_new(J_FALSE));
    notify(child, "AXMenuClosed");
  }
}

void close_menus(App *app) { close_below(app->root); }

void open_menu(Node *node) {
  Node *menu = node_is(node, "AXMenu") ? node : NULL;
  for (int i = 0; !menu && i < node->count; i++)
    if (!node->children[i]->dead && node_is(node->children[i], "AXMenu")) menu = node->children[i];
  if (!menu) return;
  /* One menu is open at a time. A submenu leaves its parents open. */
  bool inside = false;
  for (Node *at = menu->parent; at; at = at->parent) inside = inside || at->open;
  if (!inside) close_menus(node->app);
  menu->open = true;
  if (node_is(menu->parent, "AXMenuBarItem")) node_set(menu->parent, "AXSelected", json_new(J_TRUE));
  notify(menu, "AXMenuOpened");
}

void pick(Node *item) {
  for (int i = 0; i < item->count; i++)
    if (node_is(item->children[i], "AXMenu")) {
      open_menu(item->children[i]);
      return;
    }
  for (Node *at = item->parent; at; at = at->parent) {
    if (!node_is(at, "AXPopUpButton") && !node_is(at, "AXComboBox")) continue;
    char *title = node_text(item, "AXTitle");
    if (title) node_set(at, "AXValue", json_new_string(title));
    free(title);
    notify(at, "AXValueChanged");
  }
  close_menus(item->app);
}

void quit_app(App *app) {
  if (!app->running) return;
  app->running = false;
  for (int i = app->root->count; i-- > 0;) node_remove(app->root->children[i]);
  app->root->dead = true;
  if (effect_is_new()) {
    Text line = record_open("gone");
    text_printf(&line, ",\"pid\":%d", app->pid);
    record_close(&line);
  }
  if (scene.front != app->pid) return;
  scene.front = 0;
  Node **windows;
  if (windows_stacked(&windows)) scene.front = windows[0]->app->pid;
  for (App *other = scene.apps; !scene.front && other; other = other->next)
    if (other->running) scene.front = other->pid;
}

void close_window(Node *window) {
  App *app = window->app;
  notify(window, "AXUIElementDestroyed");
  node_remove(window);
  Node *front = window_in_front(app);
  if (front) notify(front, "AXFocusedWindowChanged");
}

void open_window(App *app, const Json *json) {
  Json *copy = json_clone(json);
  if (!json_get(copy, "AXRole")) json_set(copy, "AXRole", json_new_string("AXWindow"));
  Node *window = node_add(app->root, copy, -1);
  json_free(copy);
  notify(window, "AXWindowCreated");
  notify(window, "AXFocusedWindowChanged");
}

static int free_pid(void) {
  int pid = 0;
  for (App *app = scene.apps; app; app = app->next)
    if (app->pid > pid) pid = app->pid;
  return pid + 1;
}

void launch(const Json *effect) {
  const char *name = json_string(effect, "app");
  App *running = name ? app_by_name(name) : NULL;
  if (running && !json_true(effect, "new")) {
    Json *again = json_get(node_get(running->root, "on"), "reopen");
    if (again) effects_run(again, running->root);
    if (!json_true(effect, "background")) bring_to_front(running);
    return;
  }
  Json *known = name ? installed_app(name) : NULL;
  if (!known) return;
  Json *json = json_clone(known), *windows = json_get(json, "windows");
  double later = json_number(json, "window_after_ms", 0);
  Json *kept = later > 0 && windows ? json_clone(windows) : NULL;
  if (kept) json_drop(json, "windows");
  if (!json_get(json, "pid") || app_by_pid((int)json_number(json, "pid", 0))) json_set(json, "pid", json_new_number(free_pid()));
  if (!json_get(json, "ready_ms")) json_set(json, "ready_ms", json_new_number(READY_MS));
  App *app = app_add(json);
  app->started_ms = effect_time();
  json_set(app->json, "start", json_new(J_NULL));
  if (!json_true(effect, "background")) bring_to_front(app);
  for (Json *window = kept ? kept->first : NULL; window; window = window->next) {
    Json *opening = effect_new("open_window", NULL);
    json_set(opening, "app", json_new_number(app->pid));
    json_set(opening, "window", json_clone(window));
    json_set(opening, "after_ms", json_new_number(later));
    effect_apply(opening, NULL);
    json_free(opening);
  }
  json_free(kept);
  json_free(json);
}

bool perform(Node *node, const char *action) {
  if (!node_flag(node, "AXEnabled", true)) return false;
  Json *also = json_get(node_get(node, "on"), action);
  unsigned serial = node->serial;
  effects_run(node_action(node, action), node);
  if (also) effects_run(also, node_by_serial(serial));
  return true;
}

void change_number(Node *node, double value) {
  Json *least = node_get(node, "AXMinValue"), *most = node_get(node, "AXMaxValue"), *old = node_get(node, "AXValue");
  if (least && least->kind == J_NUMBER && value < least->number) value = least->number;
  if (most && most->kind == J_NUMBER && value > most->number) value = most->number;
  Json *number = json_new_number(value);
  if (old && old->kind == J_NUMBER && !old->integral) number->integral = false;
  node_set(node, "AXValue", number);
  notify(node, "AXValueChanged");
}

void scroll_area(Node *area, double pages, double pixels, bool across) {
  while (area && !area->scrolls) area = area->parent;
  if (!area) return;
  Json *content = node_get(area, "content");
  double shown = across ? area->frame.size.width : area->frame.size.height, hidden = json_at(content, across ? 0 : 1) - shown;
  for (int i = 0; hidden > 0 && i < area->count; i++) {
    Node *bar = area->children[i];
    Json *orientation = node_get(bar, "AXOrientation"), *value = node_get(bar, "AXValue");
    bool lies = orientation && orientation->kind == J_STRING && !strcmp(orientation->string, "AXHorizontalOrientation");
    if (node_is(bar, "AXScrollBar") && lies == across && value) change_number(bar, value->number + (pages * shown + pixels) / hidden);
  }
}

/** Scrolls until the node is visible in its scroll area. */
void reveal_by_scrolling(Node *node) {
  CGRect frame = node_frame(node), clip = clip_of(node);
  if (frame.origin.y < clip.origin.y) scroll_area(node->parent, 0, frame.origin.y - clip.origin.y, false);
  double below = frame.origin.y + frame.size.height - clip.origin.y - clip.size.height;
  if (below > 0) scroll_area(node->parent, 0, below, false);
}

void zoom(Node *window) {
  Json *before = node_get(window, "unzoomed"), *displays = json_get(scene.json, "displays");
  Json *screen = displays && displays->first ? json_get(displays->first, "bounds") : NULL;
  CGRect now = node_frame(window);
  CGRect to = {{0, 25}, {screen ? json_at(screen, 2) : 1440, (screen ? json_at(screen, 3) : 900) - 25}};
  if (before && before->kind == J_ARRAY) to = (CGRect){{json_at(before, 0), json_at(before, 1)}, {json_at(before, 2), json_at(before, 3)}};
  Json *kept = json_new(before && before->kind == J_ARRAY ? J_NULL : J_ARRAY);
  double numbers[] = {now.origin.x, now.origin.y, now.size.width, now.size.height};
  for (int i = 0; kept->kind == J_ARRAY && i < 4; i++) json_push(kept, json_new_number(numbers[i]));
  node_set(window, "unzoomed", kept);
  window->shift.x += to.origin.x - now.origin.x;
  window->shift.y += to.origin.y - now.origin.y;
  window->frame.size = to.size;
  notify(window, "AXWindowResized");
}

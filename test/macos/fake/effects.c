#include "record.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Later */

typedef struct Pending Pending;
struct Pending {
  Json *effect;
  unsigned self;
  double due_ms;
  long calls; /* to go; -1 when only time counts */
  Pending *next;
};

static Pending *pending;
static double applying_at; /* the moment an effect happened, also when it is replayed later */

static void postpone(const Json *effect, const Node *self) {
  Pending *later = calloc(1, sizeof *later), **end = &pending;
  later->effect = json_clone(effect);
  later->self = self ? self->serial : 0;
  later->calls = (long)json_number(effect, "after_calls", -1);
  later->due_ms = applying_at + json_number(effect, "after_ms", 0);
  json_drop(later->effect, "after_ms");
  json_drop(later->effect, "after_calls");
  while (*end) end = &(*end)->next;
  *end = later;
}

static Pending *take_due(double now) {
  Pending **best = NULL;
  for (Pending **at = &pending; *at; at = &(*at)->next)
    if ((*at)->calls <= 0 && (*at)->due_ms <= now && (!best || (*at)->due_ms < (*best)->due_ms)) best = at;
  if (!best) return NULL;
  Pending *due = *best;
  *best = due->next;
  return due;
}

static void happen_until(double now) {
  for (Pending *due; (due = take_due(now));) {
    applying_at = due->due_ms;
    effect_apply(due->effect, node_by_serial(due->self));
    json_free(due->effect);
    free(due);
  }
}

void effect_replay(const Json *effect, double at) {
  happen_until(at);
  applying_at = at;
  effect_apply(effect, NULL);
}

void world_turn(void) {
  journal_sync();
  if (pending) happen_until(now_ms());
}

void world_called(void) {
  for (Pending *later = pending; later; later = later->next)
    if (later->calls > 0) later->calls--;
}

void world_do(Json *effect) {
  world_turn();
  json_set(effect, "at", json_new_number(now_ms()));
  journal_add(effect);
  applying_at = json_number(effect, "at", 0);
  effect_apply(effect, NULL);
  json_free(effect);
}

Json *effect_new(const char *verb, const Node *node) {
  Json *effect = json_new(J_OBJECT);
  json_set(effect, "do", json_new_string(verb));
  char ref[16];
  if (node) snprintf(ref, sizeof ref, "#%u", node->serial);
  if (node) json_set(effect, "node", json_new_string(ref));
  return effect;
}

bool world_start(const char *source) {
  for (Pending *later; (later = pending);) {
    pending = later->next;
    json_free(later->effect);
    free(later);
  }
  const char *path = source ? source : getenv("FAKEMAC_SCENE");
  if (!scene_load(path && *path ? path : "{\"apps\":[]}")) return false;
  journal_start();
  applying_at = now_ms();
  if (!journal_shared()) effects_run(json_get(scene.json, "meanwhile"), NULL);
  world_turn();
  return true;
}

/* What elements do */

static App *app_named(const Json *effect, const Node *self) {
  Json *app = json_get(effect, "app");
  if (app && app->kind == J_NUMBER) return app_by_pid((int)app->number);
  if (app && app->kind == J_STRING) return app_by_name(app->string);
  return self ? self->app : NULL;
}

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

static void open_menu(Node *node) {
  Node *menu = node_is(node, "AXMenu") ? node : NULL;
  for (int i = 0; !menu && i < node->count; i++)
    if (!node->children[i]->dead && node_is(node->children[i], "AXMenu")) menu = node->children[i];
  if (!menu) return;
  /* one menu at a time, but a submenu leaves its parents open */
  bool inside = false;
  for (Node *at = menu->parent; at; at = at->parent) inside = inside || at->open;
  if (!inside) close_menus(node->app);
  menu->open = true;
  if (node_is(menu->parent, "AXMenuBarItem")) node_set(menu->parent, "AXSelected", json_new(J_TRUE));
  notify(menu, "AXMenuOpened");
}

/** A menu item was chosen: a submenu opens, anything else closes all menus. */
static void pick(Node *item) {
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
  Text line = record_open("gone");
  text_printf(&line, ",\"pid\":%d", app->pid);
  record_close(&line);
  if (scene.front != app->pid) return;
  scene.front = 0;
  Node **windows;
  if (windows_stacked(&windows)) scene.front = windows[0]->app->pid;
  for (App *other = scene.apps; !scene.front && other; other = other->next)
    if (other->running) scene.front = other->pid;
}

static void close_window(Node *window) {
  App *app = window->app;
  notify(window, "AXUIElementDestroyed");
  node_remove(window);
  Node *front = window_in_front(app);
  if (front) notify(front, "AXFocusedWindowChanged");
}

static void open_window(App *app, const Json *json) {
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

static void launch(const Json *effect) {
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
  App *app = app_add(json);
  app->started_ms = applying_at;
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

static void change_number(Node *node, double value) {
  Json *least = node_get(node, "AXMinValue"), *most = node_get(node, "AXMaxValue"), *old = node_get(node, "AXValue");
  if (least && least->kind == J_NUMBER && value < least->number) value = least->number;
  if (most && most->kind == J_NUMBER && value > most->number) value = most->number;
  Json *number = json_new_number(value);
  if (old && old->kind == J_NUMBER && !old->integral) number->integral = false;
  node_set(node, "AXValue", number);
  notify(node, "AXValueChanged");
}

static void scroll_area(Node *area, double pages, double pixels, bool across) {
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

/** Scrolls until the node shows in its scroll area. */
static void reveal_by_scrolling(Node *node) {
  CGRect frame = node_frame(node), clip = clip_of(node);
  if (frame.origin.y < clip.origin.y) scroll_area(node->parent, 0, frame.origin.y - clip.origin.y, false);
  double below = frame.origin.y + frame.size.height - clip.origin.y - clip.size.height;
  if (below > 0) scroll_area(node->parent, 0, below, false);
}

static void zoom(Node *window) {
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

/* The verbs of effects */

static void do_set(Node *node, const Json *effect) {
  const char *attribute = json_string(effect, "attribute");
  Json *value = json_get(effect, "value");
  if (!attribute || !value) return;
  node_set(node, attribute, json_clone(value));
  if (!strcmp(attribute, "AXValue")) notify(node, "AXValueChanged");
  else if (!strcmp(attribute, "AXTitle")) notify(node, "AXTitleChanged");
  else if (!strcmp(attribute, "frame") && json_count(value) == 4) {
    node->frame = (CGRect){{json_at(value, 0), json_at(value, 1)}, {json_at(value, 2), json_at(value, 3)}};
    node->framed = true;
    notify(node, "AXLayoutChanged");
  }
}

static void do_toggle(Node *node, const Json *effect) {
  const char *named = json_string(effect, "attribute"), *attribute = named ? named : "AXValue";
  Json *value = node_get(node, attribute);
  bool was = node_flag(node, attribute, false), number = value && value->kind == J_NUMBER;
  node_set(node, attribute, number ? json_new_number(!was) : json_new(was ? J_FALSE : J_TRUE));
  notify(node, "AXValueChanged");
}

static void do_choose(Node *node, const Json *effect) {
  (void)effect;
  for (int i = 0; node->parent && i < node->parent->count; i++) {
    Node *other = node->parent->children[i];
    if (!node_is(other, "AXRadioButton") || node_flag(other, "AXValue", false) == (other == node)) continue;
    node_set(other, "AXValue", json_new_number(other == node));
    notify(other, "AXValueChanged");
  }
}

static void do_add(Node *node, const Json *effect) {
  Json *value = node_get(node, "AXValue");
  change_number(node, (value ? value->number : 0) + json_number(effect, "by", 1));
}

static void do_insert(Node *node, const Json *effect) {
  Json *child = json_get(effect, "child");
  if (!child) return;
  Node *added = node_add(node, child, (int)json_number(effect, "at_index", -1));
  if (node_is(added, "AXMenu")) {
    added->open = true;
    notify(added, "AXMenuOpened");
  } else if (node_is(added, "AXSheet")) notify(added, "AXSheetCreated");
  else notify(added, "AXCreated");
  notify(node, "AXLayoutChanged");
}

static void do_remove(Node *node, const Json *effect) {
  (void)effect;
  Node *parent = node->parent;
  notify(node, "AXUIElementDestroyed");
  node_remove(node);
  if (parent) notify(parent, "AXLayoutChanged");
}

static void do_replace(Node *node, const Json *effect) {
  Node *parent = node->parent;
  Json *with = json_get(effect, "with");
  int at = 0;
  if (!parent || !with) return;
  while (at < parent->count && parent->children[at] != node) at++;
  do_remove(node, effect);
  node_add(parent, with, at);
}

static void do_reveal(Node *node, const Json *effect) {
  (void)effect;
  node->late = false;
  notify(node, "AXCreated");
  notify(node->parent, "AXLayoutChanged");
}

static void do_hide(Node *node, const Json *effect) {
  (void)effect;
  node->late = true;
  notify(node->parent, "AXLayoutChanged");
}

static void do_close(Node *node, const Json *effect) {
  Node *window = window_of(node);
  Json *instead = window ? json_get(node_get(window, "on"), "close") : NULL;
  if (window && instead && !json_true(effect, "force")) effects_run(instead, window);
  else if (window) close_window(window);
}

static void do_minimize(Node *node, const Json *effect) {
  (void)effect;
  Node *window = window_of(node);
  if (window) write_attribute(window, "AXMinimized", json_new(J_TRUE));
}

static void do_zoom(Node *node, const Json *effect) {
  (void)effect;
  Node *window = window_of(node);
  if (window) zoom(window);
}

static void do_raise(Node *node, const Json *effect) {
  (void)effect;
  Node *window = window_of(node);
  if (!window) return;
  window_raise(window);
  notify(window, "AXFocusedWindowChanged");
}

static void do_move(Node *node, const Json *effect) {
  Json *by = json_get(effect, "by");
  node->shift.x += json_at(by, 0);
  node->shift.y += json_at(by, 1);
  notify(node, node->number ? "AXWindowMoved" : "AXLayoutChanged");
}

static void do_write(Node *node, const Json *effect) {
  Json *value = json_get(effect, "value");
  if (value) write_attribute(node, json_string(effect, "attribute"), json_clone(value));
}

static void do_perform(Node *node, const Json *effect) { perform(node, json_string(effect, "action")); }
static void do_focus(Node *node, const Json *effect) { (void)effect; focus(node); }
static void do_open_menu(Node *node, const Json *effect) { (void)effect; open_menu(node); }
static void do_close_menus(Node *node, const Json *effect) { (void)effect; close_menus(node->app); }
static void do_pick(Node *node, const Json *effect) { (void)effect; pick(node); }
static void do_show(Node *node, const Json *effect) { (void)effect; reveal_by_scrolling(node); }
static void do_type(Node *node, const Json *effect) { insert_text(node, json_string(effect, "text")); }
static void do_notify(Node *node, const Json *effect) { notify(node, json_string(effect, "name")); }
static void do_scroll(Node *node, const Json *effect) {
  scroll_area(node, json_number(effect, "pages", 0), json_number(effect, "pixels", 0), json_true(effect, "across"));
}

static const struct {
  const char *verb;
  void (*apply)(Node *node, const Json *effect);
} node_verbs[] = {
    {"set", do_set}, {"toggle", do_toggle}, {"choose", do_choose}, {"add", do_add}, {"insert", do_insert},
    {"remove", do_remove}, {"replace", do_replace}, {"reveal", do_reveal}, {"hide", do_hide}, {"close", do_close},
    {"minimize", do_minimize}, {"zoom", do_zoom}, {"raise", do_raise}, {"move", do_move}, {"write", do_write},
    {"perform", do_perform}, {"focus", do_focus}, {"open_menu", do_open_menu}, {"close_menus", do_close_menus},
    {"pick", do_pick}, {"show", do_show}, {"type", do_type}, {"notify", do_notify}, {"scroll", do_scroll},
};

/** Effects on applications and the system. False when the verb is none of them. */
static bool apply_elsewhere(const char *verb, const Json *effect, Node *self) {
  App *app = app_named(effect, self);
  if (!strcmp(verb, "begin")) effects_run(json_get(scene.json, "meanwhile"), NULL); /* what happens by itself */
  else if (!strcmp(verb, "launch")) launch(effect);
  else if (!strcmp(verb, "event")) input_apply(effect);
  else if (!strcmp(verb, "pasteboard")) {
    Json *contents = json_get(effect, "contents");
    json_set(scene.json, "pasteboard", contents ? json_clone(contents) : json_new(J_OBJECT));
    scene.pasteboard_changes++;
  } else if (!strcmp(verb, "grant")) {
    Json *trust = json_get(scene.json, "trust");
    if (!trust) trust = json_set(scene.json, "trust", json_new(J_OBJECT));
    json_set(trust, json_string(effect, "what"), json_new(json_true(effect, "to") ? J_TRUE : J_FALSE));
  } else if (!strcmp(verb, "note")) {
    Text line = record_open("note");
    text_add(&line, ",\"text\":");
    text_quote(&line, json_string(effect, "text"));
    record_close(&line);
  } else if (!strcmp(verb, "cursor")) {
    scene.cursor = (CGPoint){json_at(json_get(effect, "to"), 0), json_at(json_get(effect, "to"), 1)};
  } else if (!strcmp(verb, "layout")) {
    json_set(scene.json, "keyboard", json_clone(json_get(effect, "keyboard")));
  } else if (!app) return false;
  else if (!strcmp(verb, "open_window")) open_window(app, json_get(effect, "window"));
  else if (!strcmp(verb, "front")) bring_to_front(app);
  else if (!strcmp(verb, "hang")) app->hung = true;
  else if (!strcmp(verb, "resume")) app->hung = false;
  else if (!strcmp(verb, "quit")) {
    Json *instead = json_get(node_get(app->root, "on"), "quit");
    if (instead && !json_true(effect, "force")) effects_run(instead, app->root);
    else quit_app(app);
  } else return false;
  return true;
}

void effect_apply(const Json *effect, Node *self) {
  if (json_get(effect, "after_ms") || json_get(effect, "after_calls")) {
    postpone(effect, self);
    return;
  }
  const char *verb = json_string(effect, "do");
  if (!verb || apply_elsewhere(verb, effect, self)) return;
  const char *name = json_string(effect, "node");
  Node *node = node_by_name(name, self);
  if (!node || node->dead) return; /* it went away before the effect came */
  for (size_t i = 0; i < sizeof node_verbs / sizeof *node_verbs; i++) {
    if (strcmp(node_verbs[i].verb, verb)) continue;
    node_verbs[i].apply(node, effect);
    return;
  }
  fatal("scene", "there is no effect '%s'", verb);
}

void effects_run(const Json *effects, Node *self) {
  for (const Json *effect = effects ? effects->first : NULL; effect; effect = effect->next) effect_apply(effect, self);
}

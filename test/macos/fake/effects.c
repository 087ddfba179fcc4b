#include "behaviour.h"
#include "record.h"

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
  bool seen;
  Pending *next;
};

static Pending *pending;
static double applying_at; /* the moment an effect happened, also when it is replayed later */
static bool seen;          /* it came from another process, which has recorded it */

static void postpone(const Json *effect, const Node *self) {
  Pending *later = calloc(1, sizeof *later), **end = &pending;
  later->effect = json_clone(effect);
  later->self = self ? self->serial : 0;
  later->seen = seen;
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
    seen = due->seen;
    effect_apply(due->effect, node_by_serial(due->self));
    json_free(due->effect);
    free(due);
  }
  seen = false;
}

void effect_replay(const Json *effect, double at) {
  happen_until(at);
  applying_at = at;
  seen = true;
  effect_apply(effect, NULL);
  seen = false;
}

double effect_time(void) { return applying_at; }
bool effect_is_new(void) { return !seen; }

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

static App *app_named(const Json *effect, const Node *self) {
  Json *app = json_get(effect, "app");
  if (app && app->kind == J_NUMBER) return app_by_pid((int)app->number);
  if (app && app->kind == J_STRING) return app_by_name(app->string);
  return self ? self->app : NULL;
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
    added->late = added->open = true; /* there as long as it is open */
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

static void record_note(const char *text) {
  Text line = record_open("note");
  text_add(&line, ",\"text\":");
  text_quote(&line, text);
  record_close(&line);
}

/** Effects on applications and on the system. False for any other verb. */
static bool apply_elsewhere(const char *verb, const Json *effect, Node *self) {
  App *app = app_named(effect, self);
  if (!strcmp(verb, "begin")) effects_run(json_get(scene.json, "meanwhile"), NULL); /* effects without a cause */
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
    if (effect_is_new()) record_note(json_string(effect, "text"));
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

#include "scene.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 8192

Scene scene;

typedef struct Named Named;
struct Named {
  Node *node;
  Named *next;
};
static Named *names[NAMES];

static Node *build(App *app, Node *parent, Json *own, const Json *proto, long index, CGPoint step);

static unsigned name_slot(const char *name) {
  unsigned hash = 2166136261u;
  for (const char *at = name; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
  return hash % NAMES;
}

/* Reading nodes */

Json *node_get(const Node *node, const char *key) {
  const Json *places[] = {node->own, node->proto, node->subrole, node->role};
  for (int i = 0; i < 4; i++) {
    Json *found = places[i] ? json_get(places[i], key) : NULL;
    if (found) return found;
  }
  return NULL;
}

char *fill_in(const Node *node, const char *string) {
  if (!node->proto || !strchr(string, '{')) return strdup(string);
  Text text = {0};
  text_add(&text, "");
  for (const char *at = string; *at; at++) {
    bool zero = !strncmp(at, "{i}", 3), one = !strncmp(at, "{n}", 3);
    if (zero || one) {
      text_printf(&text, "%ld", node->index + one);
      at += 2;
    } else text_bytes(&text, at, 1);
  }
  return text.chars;
}

char *node_text(const Node *node, const char *key) {
  Json *value = node_get(node, key);
  return value && value->kind == J_STRING ? fill_in(node, value->string) : NULL;
}

bool node_is(const Node *node, const char *role) {
  Json *value = node_get(node, "AXRole");
  return value && value->kind == J_STRING && !strcmp(value->string, role);
}

bool node_flag(const Node *node, const char *key, bool fallback) {
  Json *value = node_get(node, key);
  if (!value || value->kind == J_NULL) return fallback;
  return value->kind == J_TRUE || (value->kind == J_NUMBER && value->number != 0);
}

bool node_settable(const Node *node, const char *attribute) {
  if (json_has(node_get(node, "fixed"), attribute)) return false;
  const Json *places[] = {node->own, node->proto, node->subrole, node->role};
  for (int i = 0; i < 4; i++)
    if (places[i] && json_has(json_get(places[i], "settable"), attribute)) return true;
  return false;
}

Json *node_action(const Node *node, const char *action) {
  const Json *places[] = {node->own, node->proto, node->subrole, node->role};
  for (int i = 0; i < 4; i++) {
    Json *effects = places[i] ? json_get(json_get(places[i], "actions"), action) : NULL;
    if (effects) return effects->kind == J_NULL ? NULL : effects;
  }
  return NULL;
}

const char *node_label(const Node *node) {
  static char labels[4][64];
  static int turn;
  if (node->name) return node->name;
  char *label = labels[turn++ % 4];
  snprintf(label, sizeof labels[0], "#%u", node->serial);
  return label;
}

Node *node_by_serial(unsigned serial) { return serial >= 1 && serial <= scene.count ? scene.nodes[serial - 1] : NULL; }

Node *node_by_name(const char *name, Node *self) {
  if (!name || !strcmp(name, "self")) return self;
  if (!strcmp(name, "window")) return self ? window_of(self) : NULL;
  if (!strcmp(name, "parent")) return self ? self->parent : NULL;
  if (*name == '#') return node_by_serial((unsigned)strtoul(name + 1, NULL, 10));
  for (Named *named = names[name_slot(name)]; named; named = named->next)
    if (!named->node->dead && !strcmp(named->node->name, name)) return named->node;
  return NULL;
}

/* Changing nodes */

static void know_role(Node *node) {
  bool bare = node_flag(node, "bare", false);
  node->role = node->subrole = NULL;
  Json *role = node_get(node, "AXRole");
  if (!bare && role && role->kind == J_STRING) node->role = role_defaults(role->string);
  Json *subrole = node_get(node, "AXSubrole");
  if (!bare && subrole && subrole->kind == J_STRING) node->subrole = role_defaults(subrole->string);
}

void node_set(Node *node, const char *key, Json *value) {
  if (!node->own) node->own = json_new(J_OBJECT);
  json_set(node->own, key, value);
  if (!strcmp(key, "AXRole") || !strcmp(key, "AXSubrole")) know_role(node);
}

static void adopt_child(Node *parent, Node *child, int at) {
  if (parent->count == parent->room) {
    parent->room = parent->room ? parent->room * 2 : 4;
    parent->children = realloc(parent->children, (size_t)parent->room * sizeof *parent->children);
  }
  if (at < 0 || at > parent->count) at = parent->count;
  memmove(parent->children + at + 1, parent->children + at, (size_t)(parent->count - at) * sizeof *parent->children);
  parent->children[at] = child;
  parent->count++;
}

static Node *node_new(App *app, Node *parent, Json *own, const Json *proto, long index) {
  Node *node = calloc(1, sizeof *node);
  if (scene.count == scene.room) {
    scene.room = scene.room ? scene.room * 2 : 256;
    scene.nodes = realloc(scene.nodes, scene.room * sizeof *scene.nodes);
  }
  scene.nodes[scene.count++] = node;
  node->serial = scene.count;
  node->app = app;
  node->parent = parent;
  node->own = own;
  node->proto = proto;
  node->index = index;
  know_role(node);
  node->name = node_text(node, "id");
  if (node->name) {
    Named *named = malloc(sizeof *named), **slot = &names[name_slot(node->name)];
    *named = (Named){node, *slot};
    *slot = named;
  }
  return node;
}

static void number_window(Node *node) {
  Json *number = node_get(node, "window");
  node->number = number && number->kind == J_NUMBER ? (uint32_t)number->number : scene.next_number++;
  node->z = --scene.z; /* the first one in the file is in front */
  if (scene.window_count == scene.window_room) {
    scene.window_room = scene.window_room ? scene.window_room * 2 : 16;
    scene.windows = realloc(scene.windows, (size_t)scene.window_room * sizeof *scene.windows);
  }
  scene.windows[scene.window_count++] = node;
}

static void build_children(Node *node, Json *list, bool late, bool generated, CGPoint step) {
  for (Json *item = list ? list->first : NULL; item; item = item->next) {
    long repeat = (long)json_number(item, "repeat", 0);
    Json *template = json_get(item, "node");
    if (!repeat || !template) {
      Node *child = build(node->app, node, generated ? NULL : item, generated ? item : NULL, node->index, step);
      child->late = late;
      continue;
    }
    Json *stride = json_get(item, "step");
    for (long i = 0; i < repeat; i++) {
      CGPoint moved = {(double)i * json_at(stride, 0), (double)i * json_at(stride, 1)};
      build(node->app, node, NULL, template, i, moved)->late = late;
    }
  }
}

static Node *build(App *app, Node *parent, Json *own, const Json *proto, long index, CGPoint step) {
  Node *node = node_new(app, parent, own, proto, index);
  if (parent) adopt_child(parent, node, -1);
  Json *frame = node_get(node, "frame");
  if (frame) {
    node->framed = true;
    node->frame = (CGRect){{json_at(frame, 0) + step.x, json_at(frame, 1) + step.y}, {json_at(frame, 2), json_at(frame, 3)}};
  }
  node->scrolls = node_get(node, "content") != NULL;
  if (node_get(node, "window") || (node_is(node, "AXWindow") && parent && !parent->parent)) number_window(node);
  build_children(node, node_get(node, "windows"), false, proto, step);
  Json *bar = node_get(node, "menubar");
  if (bar && bar->kind == J_OBJECT) build(app, node, bar, NULL, index, step);
  build_children(node, node_get(node, "children"), false, proto, step);
  build_children(node, node_get(node, "late"), true, proto, step);
  Json *menu = node_get(node, "menu");
  if (menu && menu->kind == J_OBJECT) build(app, node, proto ? NULL : menu, proto ? menu : NULL, index, step)->late = true;
  return node;
}

Node *node_add(Node *parent, const Json *json, int at) {
  Node *node = build(parent->app, parent, json_clone(json), NULL, 0, (CGPoint){0, 0});
  if (node->number) window_raise(node);
  if (at < 0) return node;
  parent->count--;
  adopt_child(parent, node, at);
  return node;
}

static void bury(Node *node) {
  node->dead = true;
  if (node->app->focused == node) node->app->focused = NULL;
  for (int i = 0; i < node->count; i++) bury(node->children[i]);
}

void node_remove(Node *node) {
  Node *parent = node->parent;
  for (int i = 0; parent && i < parent->count; i++) {
    if (parent->children[i] != node) continue;
    memmove(parent->children + i, parent->children + i + 1, (size_t)(--parent->count - i) * sizeof *parent->children);
    break;
  }
  bury(node);
}

bool node_shows(const Node *node) {
  if (node->dead || (node->late && !node->open)) return false;
  return !node->number || !node_is(node, "AXWindow") || window_listed(node);
}

Node *node_root(App *app) { return build(app, NULL, app->json, NULL, 0, (CGPoint){0, 0}); }

/* Loading */

static void forget_scene(void) {
  for (int i = 0; i < NAMES; i++)
    for (Named *named = names[i], *next; named; named = next) {
      next = named->next;
      free(named);
    }
  memset(names, 0, sizeof names);
  for (unsigned i = 0; i < scene.count; i++) {
    Node *node = scene.nodes[i];
    free(node->children);
    free(node->name);
    free(node);
  }
  free(scene.nodes);
  free(scene.windows);
  for (App *app = scene.apps, *next; app; app = next) {
    next = app->next;
    json_free(app->json);
    free(app);
  }
  json_free(scene.json);
  scene = (Scene){.generation = scene.generation + 1, .next_number = 9001};
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  Text text = {0};
  char part[65536];
  for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) text_bytes(&text, part, got);
  fclose(file);
  return text.chars;
}

bool scene_load(const char *source) {
  Text error = {0};
  char *text = *source == '{' ? strdup(source) : read_all(source);
  Json *json = text ? json_parse(text, &error) : NULL;
  free(text);
  if (!json) {
    fprintf(stderr, "libfakemac: scene %.80s: %s\n", source, error.length ? error.chars : "cannot be read");
    text_free(&error);
    return false;
  }
  forget_scene();
  scene.json = json;
  Json *apps = json_get(json, "apps"), *cursor = json_get(json, "cursor");
  for (Json *app = apps ? apps->first : NULL; app; app = app->next) {
    App *added = app_add(app);
    if (json_true(app, "frontmost")) scene.front = added->pid;
  }
  if (!scene.front && scene.apps) scene.front = scene.apps->pid;
  /* The windows of the frontmost application are above all others, in their own order. Sheets are above. */
  Node **windows;
  int count = windows_stacked(&windows);
  for (int i = 0; i < count; i++) windows[i]->z = count - i + (windows[i]->app->pid == scene.front ? 1000000 : 0);
  for (int i = count - 1; i >= 0; i--)
    if (windows[i]->parent == windows[i]->app->root) window_raise(windows[i]);
  scene.cursor = (CGPoint){json_at(cursor, 0), json_at(cursor, 1)};
  return true;
}

/* The scene: applications with their windows and elements, read from a JSON file and changed by effects. */
#ifndef SCENE_H
#define SCENE_H

#include "apple.h"
#include "json.h"

typedef struct Node Node;
typedef struct App App;

struct Node {
  unsigned serial; /* 1, 2, 3 … in order of creation: the same in every process that shows this scene */
  char *name;      /* "id" of the scene file, or NULL */
  App *app;
  Node *parent;
  Node **children;
  int count, room;
  Json *own;         /* the members of this node itself */
  const Json *proto; /* the members of all rows made by one "repeat"; "{i}" and "{n}" are the row's number */
  long index;
  const Json *role, *subrole; /* their entries in roles.json */
  uint32_t number;   /* of a window; 0 for anything else */
  bool scrolls;      /* shows a part of its contents */
  CGRect frame;      /* where the scene file put it; see node_frame */
  bool framed, dead;
  bool late;         /* not among the children until it is revealed */
  bool open;         /* a menu that is showing */
  CGPoint shift;     /* a window that was moved takes its contents along */
  long z;            /* a window's place in the stack, the greatest in front */
  int reads;
};

struct App {
  int pid;
  Json *json;
  Node *root;
  bool running, hung;
  double started_ms;
  Node *focused;
  App *next;
};

typedef struct {
  Json *json;
  App *apps;
  Node **nodes; /* by serial - 1 */
  unsigned count, room;
  Node **windows; /* every node with a window number, also dead ones */
  int window_count, window_room;
  uint32_t next_number;
  unsigned generation; /* one more with every scene that is started */
  long z;
  int front; /* pid of the frontmost application */
  CGPoint cursor;
  uint64_t flags;       /* modifier keys that are down */
  uint8_t keys[256];    /* virtual keys that are down */
  uint8_t buttons[32];
  unsigned pressed; /* the node under the pointer when the button went down */
  CGPoint pressed_at;
  long pasteboard_changes;
} Scene;

extern Scene scene;

/** Replaces the scene. `source` is JSON or the path of a JSON file. On failure: false, and a message on stderr. */
bool scene_load(const char *source);

App *app_by_pid(int pid);                   /* also one that has quit */
App *app_by_name(const char *name);         /* name or bundle id of a running application */
const char *app_name(const App *app);
App *app_add(const Json *json);
Json *installed_app(const char *name);      /* by name, bundle id or path */

Node *node_by_serial(unsigned serial);
/** The node with this "id", with this "#serial", or "self"; NULL if there is none. */
Node *node_by_name(const char *name, Node *self);
/** The name of a node in records and effects. The fourth call from now overwrites the text. */
const char *node_label(const Node *node);

/** A member of the node, of its prototype or of its role, in this order. Strings may need node_text. */
Json *node_get(const Node *node, const char *key);
/** The same with "{i}" and "{n}" replaced; to be freed. NULL if it is not a string. */
char *node_text(const Node *node, const char *key);
char *fill_in(const Node *node, const char *string);
bool node_is(const Node *node, const char *role);
bool node_flag(const Node *node, const char *key, bool fallback);
void node_set(Node *node, const char *key, Json *value);
bool node_settable(const Node *node, const char *attribute);
/** The effects of an action; NULL if the node does not offer it. */
Json *node_action(const Node *node, const char *action);

Node *node_root(App *app); /* of an application that is being added */
Node *node_add(Node *parent, const Json *json, int at); /* at -1: at the end */
void node_remove(Node *node);                           /* it and all below are dead from now on */
bool node_shows(const Node *node);                      /* among its parent's children right now */

/* Windows */
Node *window_of(const Node *node);          /* the nearest ancestor (or itself) with a window number */
Node *window_by_number(uint32_t number);
bool window_listed(const Node *window);     /* in AXWindows: on this space and not gone */
bool window_on_screen(const Node *window);
Node *window_in_front(const App *app);      /* the app's, NULL when it has none */
/** All windows of all applications, front to back. Returns their number. */
int windows_stacked(Node ***windows);
void window_raise(Node *window);

/* Geometry */
CGRect node_frame(const Node *node);
bool node_hit(const Node *node, CGPoint point); /* inside its frame and not scrolled out of view */
Node *node_at(const App *only, CGPoint point);  /* deepest element there; NULL: none */
CGRect clip_of(const Node *node);               /* the part that its scroll area shows */
bool rect_has(CGRect rect, CGPoint point);
bool rects_meet(CGRect a, CGRect b);

void role_init(void);
/** The properties of every element of this role (or subrole); NULL if there are none. */
const Json *role_defaults(const char *role);

#endif

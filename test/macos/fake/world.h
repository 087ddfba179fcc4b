/* Effects on the scene: at once or later, from this process or from another one that shares the scene. */
#ifndef WORLD_H
#define WORLD_H

#include "scene.h"

/** Shows a new scene. NULL: the scene of FAKEMAC_SCENE, or an empty desktop. */
bool world_start(const char *source);
/** Applies all effects that are due, also those of other processes. */
void world_turn(void);
/** Notes that a call has reached this application. */
void world_called(void);
/** Shares an effect with the other processes, applies it and frees it. */
void world_do(Json *effect);
/** A new effect with its verb and its node (or NULL). */
Json *effect_new(const char *verb, const Node *node);
/** NSWorkspace and NSRunningApplication notice changes only while the run loop runs. */
void world_refresh_workspace(void);

/* For the code that applies effects: */

void effects_run(const Json *effects, Node *self);
void effect_apply(const Json *effect, Node *self);
/** Performs an action on this node; false if the node is disabled and nothing happens. */
bool perform(Node *node, const char *action);
/** Writes an attribute as an assistive client does. Takes over `value`. */
void write_attribute(Node *node, const char *attribute, Json *value);
void focus(Node *node);
void bring_to_front(App *app);
void close_menus(App *app);
void quit_app(App *app);
void notify(Node *node, const char *notification);

/* Text fields. Positions count UTF-16 units, as on a Mac. */
bool is_editable(const Node *node);
/** True if the app accepts written text and drops it: without a field editor, or in a Catalyst app. */
bool drops_text(const Node *node, const char *attribute);
bool in_page(const Node *node); /* below a web area */
CFRange selection(const Node *node);
void select_range(Node *node, CFRange range);
void insert_text(Node *node, const char *utf8);
void delete_text(Node *node, int units); /* the selection, else so many units before (<0) or after the caret */
char *selected_text(const Node *node);
long text_length(const Node *node);

/** Handles an event of the keyboard, the mouse or the wheel. */
void input_apply(const Json *event);

/** Applies the changes of other processes that share the scene. */
void journal_sync(void);
void journal_add(const Json *effect);
void journal_start(void);
bool journal_shared(void);

#endif

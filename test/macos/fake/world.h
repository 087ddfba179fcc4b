/* Effects on the scene: at once or later, in this process or in another one that shares it. */
#ifndef WORLD_H
#define WORLD_H

#include "scene.h"

/** Shows a new scene; NULL: the one of FAKEMAC_SCENE, or an empty desktop. */
bool world_start(const char *source);
/** Applies everything that is due: delayed effects, and effects of other processes. */
void world_turn(void);
/** One more call reached this application. */
void world_called(void);
/** Something from outside happens now: the effect is shared with other processes, applied and freed. */
void world_do(Json *effect);
/** The start of an effect: the verb, and the node (or NULL). */
Json *effect_new(const char *verb, const Node *node);
/** NSWorkspace and NSRunningApplication only notice changes while the run loop turns. */
void world_refresh_workspace(void);

/* Below: used while effects are applied. */

void effects_run(const Json *effects, Node *self);
void effect_apply(const Json *effect, Node *self);
/** Performs an action on this node; false if the node is disabled and nothing happens. */
bool perform(Node *node, const char *action);
/** As an assistive client writes an attribute. `value` is taken over. */
void write_attribute(Node *node, const char *attribute, Json *value);
void focus(Node *node);
void bring_to_front(App *app);
void close_menus(App *app);
void quit_app(App *app);
void notify(Node *node, const char *notification);

/* Text fields: positions count UTF-16 units, as everywhere on a Mac. */
bool is_editable(const Node *node);
/** Whether text written by a client is accepted and lost: without a field editor, or in a Catalyst app. */
bool drops_text(const Node *node, const char *attribute);
bool in_page(const Node *node); /* below a web area */
CFRange selection(const Node *node);
void select_range(Node *node, CFRange range);
void insert_text(Node *node, const char *utf8);
void delete_text(Node *node, int units); /* the selection, else so many units before (<0) or after the caret */
char *selected_text(const Node *node);
long text_length(const Node *node);

/** A keyboard, mouse or scroll event as the window server hands it on. */
void input_apply(const Json *event);

/** Applies the changes of other processes that show the same scene. */
void journal_sync(void);
void journal_add(const Json *effect);
void journal_start(void);
bool journal_shared(void);

#endif

/* Elements and values of the accessibility interface. */
#ifndef ACCESSIBILITY_H
#define ACCESSIBILITY_H

#include "foundation.h"
#include "scene.h"

/** How an attribute is asked for: some applications answer one way and not another. */
typedef enum { SINGLE, BATCH, RANGE } Way;

/** The value of an attribute, owned by the caller; an AXError when there is none. */
AXError attribute_copy(const Node *node, const char *name, Way way, Object **value);
bool attribute_supported(const Node *node, const char *name);
/** The error this node answers on purpose; 0 for none. `how` is "single", "batch" or "range". */
AXError planned_error(const Node *node, const char *name, const char *how);
/** How the node says that it has no such attribute. */
AXError absence(const Node *node, AXError error);
Object *attribute_names(const Node *node);
/** A value of the scene file as an object, owned by the caller. NULL and an error for {"$error": …}. */
Object *value_new(const Node *node, const Json *json, Way way, AXError *error);
/** An object as the scene file would say it. */
Json *value_to_json(const Object *object);

/** A new wrapper of the same element, as every read gives one. */
Object *element_new(const Node *node);
Object *ax_value_new(uint32_t type, const double *numbers, const int64_t *integers);
/** The node behind an element; NULL when it is gone or of an earlier scene. */
Node *element_node(const Object *element);

void accessibility_init(void);
void observer_init(void);
void observers_forget(void);

#endif

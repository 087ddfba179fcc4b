/* Elements and values of the accessibility interface. */
#ifndef ACCESSIBILITY_H
#define ACCESSIBILITY_H

#include "foundation.h"
#include "scene.h"

/** The form of a question: some applications answer only some of them. */
typedef enum { SINGLE, BATCH, RANGE } Way;

/** The value of an attribute, owned by the caller, or an AXError if there is none. */
AXError attribute_copy(const Node *node, const char *name, Way way, Object **value);
bool attribute_supported(const Node *node, const char *name);
/** The error that the scene plans for this question; 0 for none. `how` is "single", "batch" or "range". */
AXError planned_error(const Node *node, const char *name, const char *how);
/** The error by which the node reports that it does not have the attribute. */
AXError absence(const Node *node, AXError error);
Object *attribute_names(const Node *node);
/** Makes an object, owned by the caller, from a value of the scene file. {"$error": …} gives NULL and the error. */
Object *value_new(const Node *node, const Json *json, Way way, AXError *error);
/** An object in the form of the scene file. */
Json *value_to_json(const Object *object);

/** A new object for an element. Every read makes one. */
Object *element_new(const Node *node);
Object *ax_value_new(uint32_t type, const double *numbers, const int64_t *integers);
/** The node of an element; NULL if it is gone or belongs to an earlier scene. */
Node *element_node(const Object *element);

void accessibility_init(void);
void observer_init(void);
void observers_forget(void);

#endif

/* Keyboard layouts, compiled in from layouts.json. */
#ifndef KEYBOARD_H
#define KEYBOARD_H

#include "json.h"

enum { SHIFT_DOWN = 1, OPTION_DOWN = 2 };

void keyboard_init(void);
/** The layout with this name in layouts.json; NULL if there is none. */
Json *layout_named(const char *name);
/** The layout of the scene. */
const char *layout_current(void);
/** The text that a key types, or "". A dead key returns its accent and sets `dead`. */
const char *layout_key(const Json *layout, int key, int modifiers, bool *dead);
/** The letter with the accent; NULL if there is none. */
const char *compose(const char *accent, const char *letter);
extern Json *layouts;

#endif

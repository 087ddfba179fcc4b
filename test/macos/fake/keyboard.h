/* Keyboard layouts: layouts.json, compiled in. */
#ifndef KEYBOARD_H
#define KEYBOARD_H

#include "json.h"

enum { SHIFT_DOWN = 1, OPTION_DOWN = 2 };

void keyboard_init(void);
/** By its name in layouts.json; NULL when there is none. */
Json *layout_named(const char *name);
/** The one the scene types with. */
const char *layout_current(void);
/** What a key types: "" for nothing. A dead key answers its accent and sets `dead`. */
const char *layout_key(const Json *layout, int key, int modifiers, bool *dead);
/** Accent and letter in one; NULL when there is no such letter. */
const char *compose(const char *accent, const char *letter);
extern Json *layouts;

#endif

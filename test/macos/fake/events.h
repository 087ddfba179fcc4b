/* Event types and flags of CoreGraphics. */
#ifndef EVENTS_H
#define EVENTS_H

enum {
  LEFT_DOWN = 1, LEFT_UP, RIGHT_DOWN, RIGHT_UP, MOUSE_MOVED, LEFT_DRAGGED, RIGHT_DRAGGED,
  KEY_DOWN = 10, KEY_UP, FLAGS_CHANGED, SCROLL_WHEEL = 22, OTHER_DOWN = 25, OTHER_UP, OTHER_DRAGGED,
};

enum {
  FLAG_CAPS = 0x10000, FLAG_SHIFT = 0x20000, FLAG_CONTROL = 0x40000, FLAG_OPTION = 0x80000, FLAG_COMMAND = 0x100000,
  FLAG_FN = 0x800000, FLAG_ANY = 0x1f0000,
};

enum {
  FIELD_CLICKS = 1, FIELD_BUTTON = 3, FIELD_REPEAT = 8, FIELD_KEY = 9, FIELD_SCROLL_Y = 11, FIELD_SCROLL_X = 12,
  FIELD_TARGET_PID = 40, FIELD_SCROLL_POINT_Y = 96, FIELD_SCROLL_POINT_X = 97,
};

/** The flag of a modifier key; 0 for any other key. */
unsigned modifier_flag(int key);

/** Handles the posted events that are due. */
void events_turn(void);
void events_forget(void);

#endif

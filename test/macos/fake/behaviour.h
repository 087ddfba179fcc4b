/* Reactions of applications, windows, menus and scroll areas. */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include "world.h"

void open_menu(Node *node); /* the menu itself, or a node that has one */
/** Called when a menu item is chosen: opens its submenu, or closes all menus. */
void pick(Node *item);
void open_window(App *app, const Json *json);
void close_window(Node *window);
void zoom(Node *window);
void launch(const Json *effect);
/** Sets the value, limited to its minimum and maximum if it has them. */
void change_number(Node *node, double value);
/** Scrolls the nearest scroll area around the node, by pages of its view and by pixels. */
void scroll_area(Node *area, double pages, double pixels, bool across);
void reveal_by_scrolling(Node *node);
/** The time of the effect that is being applied. */
double effect_time(void);
/** True if this process causes the effect. False if it comes from the record of another process. */
bool effect_is_new(void);

#endif

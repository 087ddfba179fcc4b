/* Reactions of applications, windows, menus and scroll areas. */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include "world.h"

void open_menu(Node *node); /* the menu itself, or a node that has one */
/** A menu item was chosen: a submenu opens, anything else closes all menus. */
void pick(Node *item);
void open_window(App *app, const Json *json);
void close_window(Node *window);
void zoom(Node *window);
void launch(const Json *effect);
/** Within the least and the greatest value, if there are any. */
void change_number(Node *node, double value);
/** The nearest scroll area around the node, by pages of its view and by pixels. */
void scroll_area(Node *area, double pages, double pixels, bool across);
void reveal_by_scrolling(Node *node);
/** The moment the effect that is being applied happened. */
double effect_time(void);
/** It happens through this process, and not because another one wrote it down. */
bool effect_is_new(void);

#endif

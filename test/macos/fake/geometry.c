/* Positions of elements: contents move with their window, and a scroll area shows a part of its contents. */
#include "scene.h"

#include <float.h>

bool rect_has(CGRect rect, CGPoint point) {
  return point.x >= rect.origin.x && point.y >= rect.origin.y && point.x < rect.origin.x + rect.size.width &&
         point.y < rect.origin.y + rect.size.height;
}

bool rects_meet(CGRect a, CGRect b) {
  return a.origin.x < b.origin.x + b.size.width && b.origin.x < a.origin.x + a.size.width &&
         a.origin.y < b.origin.y + b.size.height && b.origin.y < a.origin.y + a.size.height;
}

static CGRect intersection(CGRect a, CGRect b) {
  double x = a.origin.x > b.origin.x ? a.origin.x : b.origin.x, y = a.origin.y > b.origin.y ? a.origin.y : b.origin.y;
  double right = a.origin.x + a.size.width < b.origin.x + b.size.width ? a.origin.x + a.size.width : b.origin.x + b.size.width;
  double bottom = a.origin.y + a.size.height < b.origin.y + b.size.height ? a.origin.y + a.size.height : b.origin.y + b.size.height;
  return (CGRect){{x, y}, {right > x ? right - x : 0, bottom > y ? bottom - y : 0}};
}

/** The distance by which a scroll area has moved its contents up and left. */
static CGPoint scrolled(const Node *area) {
  CGPoint offset = {0, 0};
  Json *content = node_get(area, "content");
  for (int i = 0; i < area->count; i++) {
    const Node *bar = area->children[i];
    if (!node_is(bar, "AXScrollBar")) continue;
    Json *orientation = node_get(bar, "AXOrientation"), *value = node_get(bar, "AXValue");
    bool across = orientation && orientation->kind == J_STRING && orientation->string[2] == 'H';
    double hidden = json_at(content, across ? 0 : 1) - (across ? area->frame.size.width : area->frame.size.height);
    if (!value || hidden <= 0) continue;
    if (across) offset.x = value->number * hidden;
    else offset.y = value->number * hidden;
  }
  return offset;
}

CGRect node_frame(const Node *node) {
  CGRect frame = node->frame;
  const Node *below = node;
  for (const Node *at = node; at; below = at, at = at->parent) {
    frame.origin.x += at->shift.x;
    frame.origin.y += at->shift.y;
    if (!at->scrolls || at == node || node_is(below, "AXScrollBar")) continue;
    CGPoint offset = scrolled(at);
    frame.origin.x -= offset.x;
    frame.origin.y -= offset.y;
  }
  return frame;
}

CGRect clip_of(const Node *node) {
  CGRect clip = {{-DBL_MAX / 4, -DBL_MAX / 4}, {DBL_MAX / 2, DBL_MAX / 2}};
  for (const Node *at = node->parent; at; at = at->parent)
    if (at->framed && (at->scrolls || at->number)) clip = intersection(clip, node_frame(at));
  return clip;
}

bool node_hit(const Node *node, CGPoint point) {
  return node->framed && rect_has(node_frame(node), point) && rect_has(clip_of(node), point);
}

/* Later children are drawn on top: the last child that contains the point wins. */
static Node *deepest(Node *node, CGPoint point) {
  for (int i = node->count; i-- > 0;) {
    Node *child = node->children[i];
    if (!node_shows(child) || (node_is(child, "AXMenu") && !child->open)) continue;
    if (node_is(child, "AXColumn")) continue; /* lies over the rows, but nothing of it is drawn */
    if (child->framed && !rect_has(node_frame(child), point)) {
      /* A menu may be larger than the button that opened it. */
      if (!child->count || !child->open) continue;
    }
    Node *found = deepest(child, point);
    if (found) return found;
  }
  return node_hit(node, point) ? node : NULL;
}

/** An open menu covers every window. */
static Node *open_menu_at(Node *node, CGPoint point) {
  for (int i = node->count; i-- > 0;) {
    Node *child = node->children[i], *found = NULL;
    if (!node_shows(child)) continue;
    if ((found = open_menu_at(child, point))) return found;
    if (child->open && node_is(child, "AXMenu") && (found = deepest(child, point))) return found;
  }
  return NULL;
}

Node *node_at(const App *only, CGPoint point) {
  for (App *app = scene.apps; app; app = app->next) {
    Node *found = app->running && (!only || app == only) ? open_menu_at(app->root, point) : NULL;
    if (found) return found;
  }
  Node **windows;
  int count = windows_stacked(&windows);
  for (int i = 0; i < count; i++) {
    Node *window = windows[i];
    /* An application does not know the windows of other applications that cover it. */
    if (only && window->app != only) continue;
    if (window_on_screen(window) && rect_has(node_frame(window), point)) return deepest(window, point);
  }
  App *front = only ? (App *)only : app_by_pid(scene.front);
  for (int i = 0; front && i < front->root->count; i++) {
    Node *bar = front->root->children[i];
    if (!bar->dead && !bar->number && node_is(bar, "AXMenuBar") && node_hit(bar, point)) return deepest(bar, point);
  }
  return NULL;
}

/* Windows: the list of them, the visible ones, and the one in front. */
#include "scene.h"

#include <stdlib.h>

Node *window_of(const Node *node) {
  for (Node *at = (Node *)node; at; at = at->parent)
    if (at->number) return at;
  return NULL;
}

Node *window_by_number(uint32_t number) {
  for (int i = 0; i < scene.window_count; i++)
    if (scene.windows[i]->number == number && !scene.windows[i]->dead) return scene.windows[i];
  return NULL;
}

bool window_listed(const Node *window) {
  Json *space = node_get(window, "space");
  return !window->dead && window->app->running && (!space || space->number <= 1) && !node_flag(window, "unlisted", false);
}

bool window_on_screen(const Node *window) {
  if (window->dead || !window->app->running) return false;
  if (window->late && !window->open) return false;
  Json *space = node_get(window, "space");
  for (const Node *at = window; at; at = at->parent)
    if (node_flag(at, "AXMinimized", false)) return false;
  return (!space || space->number <= 1) && !node_flag(window->app->root, "AXHidden", false);
}

static int by_z(const void *a, const void *b) {
  const Node *first = *(Node *const *)a, *second = *(Node *const *)b;
  return first->z < second->z ? 1 : first->z > second->z ? -1 : 0;
}

int windows_stacked(Node ***windows) {
  static Node **list;
  list = realloc(list, ((size_t)scene.window_count + 1) * sizeof *list);
  int count = 0;
  for (int i = 0; i < scene.window_count; i++)
    if (!scene.windows[i]->dead && scene.windows[i]->app->running) list[count++] = scene.windows[i];
  qsort(list, (size_t)count, sizeof *list, by_z);
  *windows = list;
  return count;
}

Node *window_in_front(const App *app) {
  Node **windows, *hidden = NULL;
  int count = windows_stacked(&windows);
  for (int i = 0; i < count; i++) {
    if (windows[i]->app != app || !node_is(windows[i], "AXWindow") || !window_listed(windows[i])) continue;
    if (window_on_screen(windows[i])) return windows[i];
    if (!hidden) hidden = windows[i];
  }
  return hidden && !node_flag(hidden, "AXMinimized", false) ? hidden : NULL;
}

static long z_top(void) {
  long top = 0;
  for (int i = 0; i < scene.window_count; i++)
    if (scene.windows[i]->z > top) top = scene.windows[i]->z;
  return top;
}

void window_raise(Node *window) {
  long top = z_top();
  window->z = ++top;
  /* Sheets and popovers stay on their window. */
  for (int i = 0; i < scene.window_count; i++)
    for (Node *at = scene.windows[i]->parent; at; at = at->parent)
      if (at == window) scene.windows[i]->z = ++top;
}

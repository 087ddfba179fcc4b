/* One window's tree as a program on libatspi reads it: role, name, description, states, extents and actions of every
   node, or with "showing" of the nodes that show (the others are not even entered). To be measured against.

     tree-atspi APP TITLE all|showing [MAX_CHILDREN]

   Prints how many nodes it read, and the milliseconds from the window to the last of them. Containers that make their
   children up as they are asked for are not entered when they have more than MAX_CHILDREN. */

#include <atspi/atspi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gboolean showing_only, says_showing;
static int max_children = 500;
static long nodes;

static AtspiAccessible *find_window (const char *name, const char *title)
{
  AtspiAccessible *desktop = atspi_get_desktop (0);
  int apps = atspi_accessible_get_child_count (desktop, NULL);
  for (int i = 0; i < apps; i++) {
    AtspiAccessible *app = atspi_accessible_get_child_at_index (desktop, i, NULL);
    if (!app) continue;
    g_autofree char *app_name = atspi_accessible_get_name (app, NULL);
    if (g_strcmp0 (app_name, name) == 0) {
      g_autofree char *toolkit = atspi_accessible_get_toolkit_name (app, NULL);
      /* GTK before 4.10 never says what shows. */
      says_showing = g_strcmp0 (toolkit, "GTK") != 0;
      int windows = atspi_accessible_get_child_count (app, NULL);
      for (int j = 0; j < windows; j++) {
        AtspiAccessible *window = atspi_accessible_get_child_at_index (app, j, NULL);
        if (!window) continue;
        g_autofree char *window_name = atspi_accessible_get_name (window, NULL);
        if (window_name && strstr (window_name, title)) return window;
        g_object_unref (window);
      }
    }
    g_object_unref (app);
  }
  return NULL;
}

static void read_actions (AtspiAccessible *accessible)
{
  AtspiAction *action = atspi_accessible_get_action_iface (accessible);
  if (!action) return;
  int count = atspi_action_get_n_actions (action, NULL);
  for (int i = 0; i < count; i++) g_free (atspi_action_get_action_name (action, i, NULL));
  g_object_unref (action);
}

static void read_extents (AtspiAccessible *accessible)
{
  AtspiComponent *component = atspi_accessible_get_component_iface (accessible);
  if (!component) return;
  g_free (atspi_component_get_extents (component, ATSPI_COORD_TYPE_SCREEN, NULL));
  g_object_unref (component);
}

static void walk (AtspiAccessible *accessible, int level)
{
  AtspiStateSet *states = atspi_accessible_get_state_set (accessible);
  gboolean shows = !states || atspi_state_set_contains (states, ATSPI_STATE_SHOWING);
  gboolean manages = states && atspi_state_set_contains (states, ATSPI_STATE_MANAGES_DESCENDANTS);
  if (states) g_object_unref (states);
  if (showing_only && says_showing && !shows) return;
  nodes++;
  atspi_accessible_get_role (accessible, NULL);
  g_free (atspi_accessible_get_name (accessible, NULL));
  g_free (atspi_accessible_get_description (accessible, NULL));
  read_extents (accessible);
  read_actions (accessible);
  int children = atspi_accessible_get_child_count (accessible, NULL);
  if (level >= 100 || (manages && children > max_children)) return;
  for (int i = 0; i < children; i++) {
    AtspiAccessible *child = atspi_accessible_get_child_at_index (accessible, i, NULL);
    if (!child) continue;
    walk (child, level + 1);
    g_object_unref (child);
  }
}

int main (int argc, char **argv)
{
  if (argc < 4) {
    fprintf (stderr, "usage: %s APP TITLE all|showing [MAX_CHILDREN]\n", argv[0]);
    return 2;
  }
  showing_only = strcmp (argv[3], "showing") == 0;
  if (argc > 4) max_children = atoi (argv[4]);
  atspi_init ();
  AtspiAccessible *window = find_window (argv[1], argv[2]);
  if (!window) return 3;
  gint64 start = g_get_monotonic_time ();
  walk (window, 0);
  printf ("%ld %.1f\n", nodes, (g_get_monotonic_time () - start) / 1000.0);
  return 0;
}

#!/usr/bin/python3
"""Reads a window's tree with pyatspi, for comparison: role, name, description, states, extents and actions of every
node. Prints the number of nodes and the milliseconds it took to read them.

  tree-pyatspi.py APP TITLE [MAX_CHILDREN]"""

import sys
import time

import pyatspi
from gi.repository import GLib


def find_window(name, title):
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.name == name:
            for window in app:
                if window is not None and title in window.name:
                    return window
    sys.exit(3)


def walk(accessible, limit):
    count = 1
    accessible.getRole(), accessible.name, accessible.description
    states = accessible.getState()
    interfaces = accessible.get_interfaces()
    if "Component" in interfaces:
        accessible.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    if "Action" in interfaces:
        action = accessible.queryAction()
        for i in range(action.nActions):
            try:
                action.getName(i)
            except GLib.GError:
                pass  # GTK 4 counts actions that have no name.
    children = accessible.childCount
    if states.contains(pyatspi.STATE_MANAGES_DESCENDANTS) and children > limit:
        return count
    for i in range(children):
        child = accessible.getChildAtIndex(i)
        if child is not None:
            count += walk(child, limit)
    return count


window = find_window(sys.argv[1], sys.argv[2])
start = time.monotonic()
nodes = walk(window, int(sys.argv[3]) if len(sys.argv) > 3 else 500)
print(nodes, round((time.monotonic() - start) * 1000, 1))

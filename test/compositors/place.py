"""Prints the middle of an element in its window, by another client of accessibility: place.py WINDOW NAME."""

import sys

import pyatspi

ROLES = (pyatspi.ROLE_PUSH_BUTTON, pyatspi.ROLE_TEXT, pyatspi.ROLE_ENTRY)


def nodes(node):
    if node is None:
        return
    yield node
    for child in node:
        yield from nodes(child)


for app in pyatspi.Registry.getDesktop(0):
    for frame in app or []:
        if frame is None or frame.name != sys.argv[1]:
            continue
        for node in nodes(frame):
            if node.name == sys.argv[2] and node.getRole() in ROLES:
                box = node.queryComponent().getExtents(pyatspi.WINDOW_COORDS)
                print(f"{box.x + box.width // 2},{box.y + box.height // 2}")
                sys.exit(0)
sys.exit(f"no element {sys.argv[2]} in {sys.argv[1]}")

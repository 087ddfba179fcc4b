#!/usr/bin/python3
"""Prints a window's tree as XML in OSWorld's format, for comparison: a tag for the role, the name, every state and
attribute, position and size of visible nodes, text, value and actions.

  tree-osworld.py APP TITLE"""

import sys
from xml.sax.saxutils import escape, quoteattr

import pyatspi
from gi.repository import GLib

NAMESPACES = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "txt": "text",
    "val": "value",
    "act": "action",
}
WIDEST = 1024
DEEPEST = 50


def find_window(name, title):
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.name == name:
            for window in app:
                if window is not None and title in window.name:
                    return window
    sys.exit(3)


def asked(read):
    try:
        return read()
    except (GLib.GError, NotImplementedError):
        return None


def attributes(node, states):
    yield "name", node.name
    for state in states:
        yield f"st:{state}", "true"
    for key, value in (asked(node.get_attributes) or {}).items():
        yield f"attr:{key}", value
    if "showing" in states and "visible" in states:
        box = asked(lambda: node.queryComponent().getExtents(pyatspi.XY_SCREEN))
        if box:
            yield "cp:screencoord", f"({box.x}, {box.y})"
            yield "cp:size", f"({box.width}, {box.height})"
    value = asked(node.queryValue)
    if value:
        for part in ("currentValue", "minimumValue", "maximumValue", "minimumIncrement"):
            yield f"val:{part}", str(asked(lambda: getattr(value, part)))
    action = asked(node.queryAction)
    for i in range(asked(lambda: action.nActions) or 0 if action else 0):
        name = (asked(lambda: action.getName(i)) or "").replace(" ", "-")
        yield f"act:{name}_desc", asked(lambda: action.getDescription(i)) or ""
        yield f"act:{name}_kb", asked(lambda: action.getKeyBinding(i)) or ""


def walk(node, depth=0):
    states = [pyatspi.StateType._enum_lookup[one].split("_", 1)[1].lower() for one in node.getState().get_states()]
    tag = (node.getRoleName() or "unknown").replace(" ", "-")
    print(f"<{tag}", *(f"{key}={quoteattr(value)}" for key, value in attributes(node, states)), end=">")
    text = asked(lambda: node.queryText().getText(0, -1))
    print(escape((text or "").replace("\ufffc", "").replace("\ufffd", "")), end="")
    for i in range(min(node.childCount, WIDEST) if depth < DEEPEST else 0):
        child = asked(lambda: node.getChildAtIndex(i))
        if child is not None:
            walk(child, depth + 1)
    print(f"</{tag}>", end="")


names = " ".join(f'xmlns:{key}="https://accessibility.ubuntu.example.org/ns/{name}"' for key, name in NAMESPACES.items())
print(f"<desktop-frame {names}>", end="")
walk(find_window(sys.argv[1], sys.argv[2]))
print("</desktop-frame>")

#!/usr/bin/python3
"""The second look: one window's whole tree as pyatspi sees it, and those of the app's popups, as JSON on stdout. Shares
no code with the program.

  atspi-dump.py APP TITLE [MAX_CHILDREN]

APP is the accessible name of the application, TITLE a part of its window's title. Hidden nodes are
included. Only a table that creates its children on request and has more than MAX_CHILDREN is shortened, to the cells in
view."""

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
import pyatspi
from gi.repository import Atspi, GLib

MANAGED = pyatspi.STATE_MANAGES_DESCENDANTS


def tried(read, otherwise=None):
    """Reads, unless the object refuses: one refusal must not hide the rest of the tree."""
    try:
        return read()
    except (GLib.GError, RuntimeError, NotImplementedError, AttributeError, LookupError):
        return otherwise


def address(accessible):
    return accessible.app.bus_name + accessible.path


def label_of(accessible):
    """The names of its labels. Most objects have none."""
    relations = tried(accessible.getRelationSet, ())
    labels = [
        relation.getTarget(i)
        for relation in relations
        if relation.getRelationType() == pyatspi.RELATION_LABELLED_BY
        for i in range(relation.getNTargets())
    ]
    return " ".join(filter(None, (tried(lambda label=label: label.name, "") for label in labels)))


def actions_of(accessible):
    action = tried(accessible.queryAction)
    count = tried(lambda: action.nActions, 0) if action else 0
    return [tried(lambda i=i: action.getName(i), "") for i in range(count)]


def extents_of(accessible):
    component = tried(accessible.queryComponent)
    box = tried(lambda: component.getExtents(pyatspi.DESKTOP_COORDS)) if component else None
    return box and [box.x, box.y, box.width, box.height]


def text_of(accessible):
    """Its first 80 characters. Firefox returns an empty text if a client asks for more than there are."""
    text = tried(accessible.queryText)
    return tried(lambda: text.getText(0, min(80, text.characterCount)), "") if text else ""


def facts_of(accessible, parent):
    """Reads states and extents last, close in time to the snapshot that they are compared with."""
    name = tried(lambda: accessible.name, "")
    return {
        "address": address(accessible),
        "parent": parent,
        "role": tried(accessible.getRoleName, "invalid"),
        "name": name,
        "label": "" if name.strip() else label_of(accessible),
        "description": tried(lambda: accessible.description, ""),
        "placeholder": tried(lambda: dict(a.split(":", 1) for a in accessible.getAttributes()).get("placeholder-text", ""), ""),
        "text": "" if name.strip() else text_of(accessible),
        "actions": actions_of(accessible),
        "interfaces": tried(accessible.get_interfaces, []),
        "states": sorted(pyatspi.stateToString(state) for state in tried(lambda: accessible.getState().getStates(), ())),
        "extents": extents_of(accessible),
    }


def children_of(accessible, limit):
    count = tried(lambda: accessible.childCount, 0)
    managed = tried(lambda: accessible.getState().contains(MANAGED), False)
    if managed and count > limit:
        yield from cells_in_view(accessible)
        return
    for i in range(count):
        child = tried(lambda: accessible.getChildAtIndex(i))
        if child is not None:
            yield child


def cells_in_view(sheet):
    """The cells from the one in the top left corner of the sheet to the one in the bottom right corner."""
    table = tried(sheet.queryTable)
    component = tried(sheet.queryComponent)
    box = tried(lambda: component.getExtents(pyatspi.DESKTOP_COORDS))
    if not table or not box:
        return
    corners = ((box.x + 1, box.y + 1), (box.x + box.width - 1, box.y + box.height - 1))
    indices = [tried(lambda x=x, y=y: component.getAccessibleAtPoint(x, y, pyatspi.DESKTOP_COORDS).getIndexInParent()) for x, y in corners]
    if None in indices:
        return
    top, bottom = [tried(lambda i=i: table.getRowAtIndex(i)) for i in indices]
    left, right = [tried(lambda i=i: table.getColumnAtIndex(i)) for i in indices]
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            cell = tried(lambda: table.getAccessibleAt(row, column))
            if cell is not None:
                yield cell


def dump(window, limit):
    nodes, seen, stack = [], set(), [(window, None)]
    while stack:
        accessible, parent = stack.pop()
        key = address(accessible)
        if (parent, key) in seen:
            continue
        seen.add((parent, key))
        nodes.append(facts_of(accessible, parent))
        stack.extend((child, key) for child in reversed(list(children_of(accessible, limit))))
    return nodes


def windows_of(name):
    desktop = pyatspi.Registry.getDesktop(0)
    for app in desktop:
        if app is not None and tried(lambda: app.name) == name:
            for window in app:
                if window is not None:
                    yield app, window


WINDOWS = ("frame", "dialog", "window", "alert")


def is_popup(window):
    """Menus and lists that are top-level objects of their own."""
    role = tried(window.getRoleName)
    return role not in ("dialog", "alert") and not tried(lambda: window.name, "")


def main(app_name, title, limit="500"):
    Atspi.set_timeout(20_000, 20_000)
    found = list(windows_of(app_name))
    for app, window in found:
        if title in tried(lambda: window.name, "") and tried(window.getRoleName) in WINDOWS:
            toolkit = tried(app.get_toolkit_name, "")
            popups = [other for owner, other in found if owner == app and other != window and is_popup(other)]
            nodes = [node for top in (window, *popups) for node in dump(top, int(limit))]
            json.dump({"pid": app.get_process_id(), "toolkit": toolkit, "nodes": nodes}, sys.stdout)
            return 0
    return 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

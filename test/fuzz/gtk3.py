#!/usr/bin/python3
"""Elements that come, go, move and change on command, in GTK 3: buttons and check boxes in two frames, rows that are
widgets, and rows of a model. Each has an id that nothing on the screen shows. See fixtures.ts for the commands."""

import os
import sys

import gi

sys.path.append(os.path.join(os.path.dirname(__file__), "../fixtures"))
from fixture import listen_in_glib, write  # noqa: E402

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

GLib.set_prgname("fuzz-gtk3")
state = {"sections": {"Alpha": [], "Beta": []}, "rows": [], "model": [], "filter": ""}
widgets = {}
parts = {}


def watch(thing, widget):
    """Does the armed change as soon as the pointer enters the widget."""
    widget.connect("enter-notify-event", lambda *_: entered(thing, widget))


def entered(thing, widget):
    armed = parts.get("armed")
    if not armed or armed["id"] != thing.id:
        return
    parts["armed"] = None
    write(entered=thing.id)
    for op in armed["ops"]:
        cover(op["id"], widget) if op["op"] == "cover" else apply(op)


def cover(id, widget):
    """A button of the same window comes up over the widget, as a page shows on hover."""
    left, top = widget.translate_coordinates(parts["overlay"], 0, 0)
    button = parts["cover"] = Gtk.Button(
        label="Cover", halign=Gtk.Align.START, valign=Gtk.Align.START, margin_start=left, margin_top=top
    )
    button.set_size_request(widget.get_allocated_width(), widget.get_allocated_height())
    button.connect("clicked", lambda *_: write(hit=id))
    parts["overlay"].add_overlay(button)
    button.show()


class Thing:
    """A widget that stands for an element, and later maybe for another one."""

    def __init__(self, kind, id, name):
        self.id = id
        self.busy = True
        self.widget = (Gtk.CheckButton if kind == "checkbox" else Gtk.Button)(label=name)
        self.widget.connect("toggled" if kind == "checkbox" else "clicked", lambda *_: write(hit=self.id))
        watch(self, self.widget)
        self.widget.show()

    def become(self, id, name):
        self.id = id
        self.widget.set_label(name)


class Row:
    def __init__(self, id, text):
        self.id = id
        self.label = Gtk.Label(label=text)
        button = Gtk.Button(label="Open")
        button.connect("clicked", lambda *_: write(hit=self.id))
        watch(self, button)
        box = Gtk.Box(spacing=8)
        box.pack_start(self.label, False, False, 0)
        box.pack_start(button, False, False, 0)
        self.widget = Gtk.ListBoxRow()
        self.widget.add(box)
        self.widget.show_all()

    def become(self, id, text):
        self.id = id
        self.label.set_text(text)


def put(section, index, widget):
    box = parts[section]
    box.pack_start(widget, False, False, 0)
    box.reorder_child(widget, index)


def shows(model, at, _):
    return state["filter"] in (model[at][1] or "")


def build():
    window = Gtk.Window(title="Fuzz gtk3", default_width=900, default_height=760)
    window.connect("delete-event", lambda *_: True)
    outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    for name in ("Alpha", "Beta"):
        frame = Gtk.Frame(label=name)
        parts[name] = Gtk.Box(spacing=4)
        frame.add(parts[name])
        outer.pack_start(frame, False, False, 0)
        for thing in state["sections"][name]:
            widgets[thing["id"]] = Thing(**thing)
            parts[name].pack_start(widgets[thing["id"]].widget, False, False, 0)
    parts["rows"] = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
    for row in state["rows"]:
        widgets[row["id"]] = Row(**row)
        parts["rows"].add(widgets[row["id"]].widget)
    outer.pack_start(parts["rows"], False, False, 0)
    store = parts["store"] = Gtk.ListStore(int, str)
    for item in state["model"]:
        store.append((item["id"], item["text"]))
    shown = parts["shown"] = store.filter_new()
    shown.set_visible_func(shows)
    view = parts["view"] = Gtk.TreeView(model=shown, headers_visible=False, enable_search=False)
    view.append_column(Gtk.TreeViewColumn("Text", Gtk.CellRendererText(), text=1))
    view.get_selection().connect("changed", selected)
    scrolled = Gtk.ScrolledWindow(min_content_height=230)
    scrolled.add(view)
    outer.pack_start(scrolled, True, True, 0)
    parts["overlay"] = Gtk.Overlay()
    parts["overlay"].add(outer)
    window.add(parts["overlay"])
    window.show_all()
    parts["window"] = window


def selected(selection):
    model, at = selection.get_selected()
    if at is not None and not parts.get("quiet"):
        write(hit=model[at][0])


def model_at(id):
    return next(row.iter for row in parts["store"] if row[0] == id)


def apply(op):
    what = op["op"]
    if what == "add":
        widgets[op["id"]] = Thing(op["kind"], op["id"], op["name"])
        put(op["section"], op["index"], widgets[op["id"]].widget)
    elif what == "remove":
        widgets.pop(op["id"]).widget.destroy()
    elif what == "move":
        widget = widgets[op["id"]].widget
        if widget.get_parent() is not parts[op["section"]]:
            widget.get_parent().remove(widget)
            put(op["section"], op["index"], widget)
        else:
            parts[op["section"]].reorder_child(widget, op["index"])
    elif what == "name":
        widgets[op["id"]].become(op["id"], op["name"])
    elif what == "become":
        widgets[op["new"]] = widgets.pop(op["id"])
        widgets[op["new"]].become(op["new"], op["name"])
    elif what == "row-add":
        widgets[op["id"]] = Row(op["id"], op["text"])
        parts["rows"].insert(widgets[op["id"]].widget, op["index"])
    elif what == "row-move":
        widget = widgets[op["id"]].widget
        parts["rows"].remove(widget)
        parts["rows"].insert(widget, op["index"])
    elif what == "row-text":
        widgets[op["id"]].become(op["id"], op["text"])
    elif what == "row-become":
        widgets[op["new"]] = widgets.pop(op["id"])
        widgets[op["new"]].become(op["new"], op["text"])
    elif what == "model-add":
        parts["store"].insert(op["index"], (op["id"], op["text"]))
    elif what == "model-remove":
        parts["store"].remove(model_at(op["id"]))
    elif what == "model-move":
        store, at = parts["store"], model_at(op["id"])
        text = store[at][1]
        store.remove(at)
        store.insert(op["index"], (op["id"], text))
    elif what == "model-text":
        parts["store"].set_value(model_at(op["id"]), 1, op["text"])
    elif what == "model-reset":
        parts["store"].clear()
        for item in op["items"]:
            parts["store"].append((item["id"], item["text"]))
    elif what == "filter":
        state["filter"] = op["text"]
        parts["shown"].refilter()
    elif what == "scroll":
        parts["view"].scroll_to_cell(Gtk.TreePath.new_from_indices([op["index"]]), None, True, 0.0, 0)
    elif what == "reopen":
        parts["window"].destroy()
        state.update(op["state"])
        widgets.clear()
        build()
    elif what == "hide":
        parts["window"].hide()
    elif what == "show":
        parts["window"].show()
    elif what == "arm":
        parts["armed"] = op
    elif what == "disarm":
        parts["armed"] = None
        if parts.get("cover"):
            parts.pop("cover").destroy()
    else:
        raise ValueError(what)


def carry_out(command):
    parts["quiet"] = True
    parts["view"].get_selection().unselect_all()
    for op in command["ops"]:
        apply(op)
    parts["view"].get_selection().unselect_all()
    parts["quiet"] = False
    GLib.idle_add(lambda: write(done=command["n"]), priority=GLib.PRIORITY_LOW)


build()
listen_in_glib(carry_out, Gtk.main_quit)
GLib.idle_add(lambda: write(done=0), priority=GLib.PRIORITY_LOW)
Gtk.main()

#!/usr/bin/python3
"""The same as gtk3.py in GTK 4. The rows of the model are widgets that the list reuses for other rows."""

import os
import sys

import gi

sys.path.append(os.path.join(os.path.dirname(__file__), "../fixtures"))
from fixture import listen_in_glib, write  # noqa: E402

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, GObject, Gtk

GLib.set_prgname("fuzz-gtk4")
GLib.set_application_name("fuzz-gtk4")
state = {"sections": {"Alpha": [], "Beta": []}, "rows": [], "model": [], "filter": ""}
widgets = {}
parts = {}
loop = GLib.MainLoop()


def watch(thing, widget):
    motion = Gtk.EventControllerMotion()
    motion.connect("enter", lambda *_: entered(thing, widget))
    widget.add_controller(motion)


def entered(thing, widget):
    armed = parts.get("armed")
    if not armed or armed["id"] != thing.id:
        return
    parts["armed"] = None
    write(entered=thing.id)
    for op in armed["ops"]:
        cover(op["id"], widget) if op["op"] == "cover" else apply(op)


def cover(id, widget):
    left, top = widget.translate_coordinates(parts["overlay"], 0, 0)
    button = parts["cover"] = Gtk.Button(
        label="Cover", halign=Gtk.Align.START, valign=Gtk.Align.START, margin_start=int(left), margin_top=int(top)
    )
    button.set_size_request(widget.get_allocated_width(), widget.get_allocated_height())
    button.connect("clicked", lambda *_: write(hit=id))
    parts["overlay"].add_overlay(button)


class Thing:
    def __init__(self, kind, id, name):
        self.id = id
        self.widget = (Gtk.CheckButton if kind == "checkbox" else Gtk.Button)(label=name)
        self.widget.connect("toggled" if kind == "checkbox" else "clicked", lambda *_: write(hit=self.id))
        watch(self, self.widget)

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
        box.append(self.label)
        box.append(button)
        self.widget = Gtk.ListBoxRow(child=box)

    def become(self, id, text):
        self.id = id
        self.label.set_text(text)


class Item(GObject.Object):
    __gtype_name__ = "FuzzItem"

    def __init__(self, id, text):
        super().__init__()
        self.id = id
        self.text = text


def put(section, index, widget):
    before = parts[section].get_first_child()
    for _ in range(index - 1):
        before = before.get_next_sibling()
    parts[section].insert_child_after(widget, before if index > 0 else None)


def set_up(_factory, cell):
    button = Gtk.Button(label="Open")
    button.connect("clicked", lambda *_: write(hit=cell.get_item().id))
    box = Gtk.Box(spacing=8)
    box.append(Gtk.Label())
    box.append(button)
    cell.set_child(box)


def bind(_factory, cell):
    cell.get_child().get_first_child().set_text(cell.get_item().text)


def build():
    window = Gtk.Window(title="Fuzz gtk4", default_width=900, default_height=760)
    window.connect("close-request", lambda *_: True)
    outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    for name in ("Alpha", "Beta"):
        frame = Gtk.Box(accessible_role=Gtk.AccessibleRole.GROUP)
        frame.update_property([Gtk.AccessibleProperty.LABEL], [name])
        parts[name] = Gtk.Box(spacing=4)
        frame.append(parts[name])
        outer.append(frame)
        for index, thing in enumerate(state["sections"][name]):
            widgets[thing["id"]] = Thing(**thing)
            put(name, index, widgets[thing["id"]].widget)
    parts["rows"] = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
    for row in state["rows"]:
        widgets[row["id"]] = Row(**row)
        parts["rows"].append(widgets[row["id"]].widget)
    outer.append(parts["rows"])
    parts["store"] = Gio.ListStore.new(Item)
    parts["store"].splice(0, 0, [Item(**item) for item in state["model"]])
    parts["shown"] = Gtk.CustomFilter.new(lambda item: state["filter"] in item.text)
    factory = Gtk.SignalListItemFactory()
    factory.connect("setup", set_up)
    factory.connect("bind", bind)
    parts["view"] = Gtk.ListView(
        model=Gtk.NoSelection(model=Gtk.FilterListModel(model=parts["store"], filter=parts["shown"])), factory=factory
    )
    scrolled = Gtk.ScrolledWindow(min_content_height=230, vexpand=True)
    scrolled.set_child(parts["view"])
    parts["scrolled"] = scrolled
    outer.append(scrolled)
    parts["overlay"] = Gtk.Overlay(child=outer)
    window.set_child(parts["overlay"])
    window.present()
    parts["window"] = window


def model_at(id):
    store = parts["store"]
    return next(i for i in range(store.get_n_items()) if store.get_item(i).id == id)


def apply(op):
    what = op["op"]
    if what == "add":
        widgets[op["id"]] = Thing(op["kind"], op["id"], op["name"])
        put(op["section"], op["index"], widgets[op["id"]].widget)
    elif what == "remove":
        widget = widgets.pop(op["id"]).widget
        parent = widget.get_parent()
        parent.remove(widget)
    elif what == "move":
        widget = widgets[op["id"]].widget
        if widget.get_parent() is not parts[op["section"]]:
            widget.get_parent().remove(widget)
            put(op["section"], op["index"], widget)
        else:
            others, at = [], parts[op["section"]].get_first_child()
            while at:
                others += [at] if at is not widget else []
                at = at.get_next_sibling()
            parts[op["section"]].reorder_child_after(widget, others[op["index"] - 1] if op["index"] > 0 else None)
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
        parts["store"].insert(op["index"], Item(op["id"], op["text"]))
    elif what == "model-remove":
        parts["store"].remove(model_at(op["id"]))
    elif what == "model-move":
        store, at = parts["store"], model_at(op["id"])
        item = store.get_item(at)
        store.remove(at)
        store.insert(op["index"], item)
    elif what == "model-text":
        store, at = parts["store"], model_at(op["id"])
        store.splice(at, 1, [Item(op["id"], op["text"])])
    elif what == "model-reset":
        store = parts["store"]
        store.splice(0, store.get_n_items(), [Item(**item) for item in op["items"]])
    elif what == "filter":
        state["filter"] = op["text"]
        parts["shown"].changed(Gtk.FilterChange.DIFFERENT)
    elif what == "scroll":
        adjustment = parts["scrolled"].get_vadjustment()
        rows = max(1, parts["store"].get_n_items())
        adjustment.set_value(adjustment.get_upper() * op["index"] / rows)
    elif what == "reopen":
        parts["window"].destroy()
        state.update(op["state"])
        widgets.clear()
        build()
    elif what == "hide":
        parts["window"].set_visible(False)
    elif what == "show":
        parts["window"].present()
    elif what == "arm":
        parts["armed"] = op
    elif what == "disarm":
        parts["armed"] = None
        if parts.get("cover"):
            parts["overlay"].remove_overlay(parts.pop("cover"))
    else:
        raise ValueError(what)


def carry_out(command):
    for op in command["ops"]:
        apply(op)
    GLib.idle_add(lambda: write(done=command["n"]), priority=GLib.PRIORITY_LOW)


Gtk.init()
build()
listen_in_glib(carry_out, loop.quit)
GLib.idle_add(lambda: write(done=0), priority=GLib.PRIORITY_LOW)
loop.run()

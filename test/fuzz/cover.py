#!/usr/bin/python3
"""Windows of another process that open where the pointer is: a popup that the window manager does not manage, or a window with a title bar.

{"open": ID, "at": [X, Y], "popup": BOOLEAN}   {"close": true}   Each press on it writes {"hit": ID}."""

import os
import sys

import gi

sys.path.append(os.path.join(os.path.dirname(__file__), "../fixtures"))
from fixture import listen_in_glib, write  # noqa: E402

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

GLib.set_prgname("fuzz-cover")
opened = {}


def make(kind):
    window = Gtk.Window(type=kind, title="Cover", default_width=300, default_height=200)
    button = Gtk.Button(label="Cover")
    # Counts every press, even if it does not become a click.
    button.connect("button-press-event", lambda *_: write(hit=opened.get("id", 0)) or False)
    window.add(button)
    button.show()
    window.realize()
    return window


windows = {True: make(Gtk.WindowType.POPUP), False: make(Gtk.WindowType.TOPLEVEL)}


def carry_out(command):
    for window in windows.values():
        window.hide()
    if "open" in command:
        opened["id"] = command["open"]
        left, top = command["at"]
        window = windows[command["popup"]]
        window.move(left - 150, top - 100)
        window.show()
    write(done=1)


listen_in_glib(carry_out, Gtk.main_quit)
write(done=0)
Gtk.main()

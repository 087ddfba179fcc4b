"""Holds a keyboard and a pointer on the seat of a headless GNOME Shell, as a real desk has them, until it is ended."""

import signal

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.gnome.Mutter.RemoteDesktop"
bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def call(path, interface, member, values=None):
    return bus.call_sync(NAME, path, interface, member, values, None, Gio.DBusCallFlags.NONE, -1).unpack()


(session,) = call("/org/gnome/Mutter/RemoteDesktop", NAME, "CreateSession")
call(session, f"{NAME}.Session", "Start")
# A device is there once it has been used: Shift, and a motion that leads nowhere.
for is_down in (True, False):
    call(session, f"{NAME}.Session", "NotifyKeyboardKeycode", GLib.Variant("(ub)", (42, is_down)))
call(session, f"{NAME}.Session", "NotifyPointerMotionRelative", GLib.Variant("(dd)", (1, 1)))
signal.pause()

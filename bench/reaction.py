#!/usr/bin/python3
"""Measures the time from a press through AT-SPI until pyatspi sees the new label, in ms.

reaction.py TITLE ROUNDS
"""
import sys
import time

import pyatspi

title, rounds = sys.argv[1], int(sys.argv[2])


def find(node, role, name=None):
    if node.get_role_name() == role and (name is None or node.name.startswith(name)):
        return node
    for child in node:
        found = find(child, role, name)
        if found:
            return found
    return None


app = next(app for app in pyatspi.Registry.getDesktop(0) if app.name == title)
button, label = find(app, "push button"), find(app, "label", "Pressed")
times = []
for _ in range(rounds):
    before = label.name
    start = time.monotonic()
    button.queryAction().doAction(0)
    while True:
        label.clear_cache_single() if hasattr(label, "clear_cache_single") else label.clear_cache()
        if label.name != before:
            break
    times.append((time.monotonic() - start) * 1000)
print(sorted(times)[len(times) // 2])

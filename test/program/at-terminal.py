"""Runs a command with standard error at a terminal; prints its output and exit code as JSON. Arguments: the command."""

import json
import os
import pty
import subprocess
import sys
import threading

near, far = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=far)
os.close(far)
shown = []


def watch():
    while True:
        try:
            chunk = os.read(near, 65536)
        except OSError:
            return
        if not chunk:
            return
        shown.append(chunk)


watcher = threading.Thread(target=watch)
watcher.start()
stdout = child.stdout.read()
code = child.wait()
watcher.join()
print(json.dumps({"stdout": stdout.decode(), "terminal": b"".join(shown).decode(), "exitCode": code}))

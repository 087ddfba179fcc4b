#!/usr/bin/python3
"""Starts a program under the pid of an earlier one, if it is still free: same-pid.py PID COMMAND…; needs root.
With PID 0, any pid. Prints nothing; stays until the program ends."""

import os
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
for _ in range(2000):
    if wanted:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(wanted - 1))
    child = os.fork()
    if child == 0:
        if wanted and os.getpid() != wanted:
            os._exit(99)
        os.execvp(command[0], command)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 99:
        sys.exit(0)
# Every time, another process took the pid.
os.execvp(command[0], command)

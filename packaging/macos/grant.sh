#!/bin/bash
# Lets programs use Accessibility, post events, record the screen and talk to Finder, without asking anybody: those that
# are named, and everything that this script was started by, since macOS holds one of them responsible (which one differs
# from image to image). Works only where System Integrity Protection is off, as on GitHub's runners; never run it on a
# machine of your own. Not yet run anywhere.
set -euo pipefail

programs=("$@")
for ((pid = $$; pid > 1; pid = $(ps -o ppid= -p "$pid"))); do
  program="$(ps -o comm= -p "$pid")"
  [[ "$program" == /* ]] && programs+=("$program")
done

# Columns by name: newer releases have more of them, all with defaults.
columns="service, client, client_type, auth_value, auth_reason, auth_version"
system="/Library/Application Support/com.apple.TCC/TCC.db"
user="$HOME/Library/Application Support/com.apple.TCC/TCC.db"
for program in "${programs[@]}"; do
  echo "granted to $program"
  for right in kTCCServiceAccessibility kTCCServicePostEvent kTCCServiceScreenCapture; do
    sudo sqlite3 "$system" "INSERT OR REPLACE INTO access ($columns) VALUES ('$right', '$program', 1, 2, 4, 1);"
  done
  sqlite3 "$user" "INSERT OR REPLACE INTO access
    ($columns, indirect_object_identifier_type, indirect_object_identifier)
    VALUES ('kTCCServiceAppleEvents', '$program', 1, 2, 4, 1, 0, 'com.apple.finder');"
done
# It reads the database when it starts, and is started again when asked.
sudo killall tccd || true

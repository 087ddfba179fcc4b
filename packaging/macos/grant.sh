#!/bin/bash
# Grants programs Accessibility, posting events, screen recording and control of apps, without a prompt: the programs
# given as arguments, and all ancestors of this script. macOS holds one of the ancestors responsible (which one differs between
# images). Works only if System Integrity Protection is off, as on GitHub's runners. Never run it on your own machine.
# Not yet run anywhere.
set -euo pipefail

programs=("$@")
for ((pid = $$; pid > 1; pid = $(ps -o ppid= -p "$pid"))); do
  program="$(ps -o comm= -p "$pid")"
  [[ "$program" == /* ]] && programs+=("$program")
done

# Name the columns: newer releases have more of them, all with defaults.
columns="service, client, client_type, auth_value, auth_reason, auth_version"
system="/Library/Application Support/com.apple.TCC/TCC.db"
user="$HOME/Library/Application Support/com.apple.TCC/TCC.db"
for program in "${programs[@]}"; do
  echo "granted to $program"
  for right in kTCCServiceAccessibility kTCCServicePostEvent kTCCServiceScreenCapture; do
    sudo sqlite3 "$system" "INSERT OR REPLACE INTO access ($columns) VALUES ('$right', '$program', 1, 2, 4, 1);"
  done
  for app in finder systemevents TextEdit AddressBook Terminal Safari calculator systempreferences; do
    sqlite3 "$user" "INSERT OR REPLACE INTO access
      ($columns, indirect_object_identifier_type, indirect_object_identifier)
      VALUES ('kTCCServiceAppleEvents', '$program', 1, 2, 4, 1, 0, 'com.apple.$app');"
  done
  sqlite3 "$user" "INSERT OR REPLACE INTO access ($columns)
    VALUES ('kTCCServiceAddressBook', '$program', 1, 2, 4, 1);"
done
# tccd reads the database when it starts; macOS starts it again on demand.
sudo killall tccd || true

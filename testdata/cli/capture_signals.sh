#!/usr/bin/env bash
# Signals reach the command, stops and continues are followed, and a window that is open is closed
# before the command is ended.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/capture_lib.sh"
python3 "$(dirname "$0")/capture_signals.py" "$capture" "$client" "$logs"

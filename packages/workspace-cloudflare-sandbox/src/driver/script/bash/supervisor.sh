# Keeps the outputs and the exit code of one process in its home. $0: the home; $1: path of `mv`; then
# the command. It relies on no variable: the caller may set any. The mark is not in its own environment,
# so what ends the process leaves it alone.
export HELIX_WS_PROCESS=${0##*-}; trap : TERM HUP INT; set -m
exec -- "${@:2}" </dev/null >"$0/out" 2>"$0/err" &
set -- "$1" "$!"
echo "$2 $EPOCHREALTIME" >"$0/pid.new"; "$1" -f -- "$0/pid.new" "$0/pid"
# One that was stopped before it ended is asked for its end once more.
while wait "$2"; set -- "$1" "$2" "$?"; kill -0 "$2" 2>/dev/null; do :; done
wait "$2"; set -- "$1" "$2" "$?"
echo "$3" >"$0/exit.new"; "$1" -f -- "$0/exit.new" "$0/exit"

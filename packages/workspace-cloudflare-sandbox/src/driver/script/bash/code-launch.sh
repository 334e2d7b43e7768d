# Becomes the program of $1. A missing one is reported on the channel: what a shell says of it would pass
# for output of the code.
type -P -- "$1" >/dev/null && exec -- "$@"
printf '{"type":"absent","program":"%s"}\n' "$1" >&3; exit 127

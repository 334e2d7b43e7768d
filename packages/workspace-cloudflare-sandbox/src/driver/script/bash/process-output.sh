# Describes a process and returns the next piece of its outputs. In: $q; $out, $err: bytes that were
# read; $piece: most bytes of each.
[[ -f $q/pid && -f $q/out && -f $q/err ]] || say missing
describe "$q"
piece "$q/out" "$out"; echo
piece "$q/err" "$err"
say output

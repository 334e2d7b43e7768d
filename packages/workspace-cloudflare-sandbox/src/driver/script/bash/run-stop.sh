# Ends a running command from outside. In: $hx_grace.
LC_ALL=C
: >"$k.x" || say lost
[[ -f $k.p ]] && read -r -n 32 p <"$k.p" || say early
stop "$hx_grace"
say stopped

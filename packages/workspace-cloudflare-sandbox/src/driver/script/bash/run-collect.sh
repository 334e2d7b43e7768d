# For a command whose own script was lost: ends what is left and answers in its place. In: $r, what is
# known about its end; $hx_grace.
[[ -f $k.p ]] && read -r -n 32 p <"$k.p" || say lost
t=0
open_readers
LC_ALL=C
stop "$hx_grace"
answer

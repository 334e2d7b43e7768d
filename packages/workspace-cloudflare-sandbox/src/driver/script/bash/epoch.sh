# Sets $epoch to the mark of the container in $d, `-` for none. Whatever is in the place of the file
# must not hold this up: only an ordinary file is opened, and little of it is read.
epoch=-; [[ -f $d/epoch ]] && { read -r -n 64 epoch <"$d/epoch"; } 2>/dev/null
# $hx_want is the epoch that the caller knows; empty: any container will do.
[[ $hx_want && $epoch != "$hx_want" ]] && say cold "$epoch"

# Ends a process. In: $q, its home; $n, its id; $grace in milliseconds; $context: it is an interpreter,
# whose home is removed. $caller: the same call, made again as its answer was lost, finds nothing any
# more, and has done its work.
gone=$d/s-gone-$n
[[ $context && -f $gone ]] && read -r -n 64 by <"$gone" && [[ $by == "$caller" ]] && say killed
[[ -f $q/pid ]] && read -r -n 64 p _ <"$q/pid" || say missing
[[ $p =~ ^[0-9]+$ ]] || say missing
o=$q/out e=$q/err
stop "$grace"
for ((i = 0; i < 100; i++)); do [[ -e $q/exit ]] && break; sleep 0.01; done
[[ $context ]] && { echo "$caller" >"$gone"; rm -rf -- "$q"; }
say killed

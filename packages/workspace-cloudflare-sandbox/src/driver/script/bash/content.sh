# Where the content of a write comes from. In: $kind `text` or `base64` with $content, or `staged`: the
# file $staged, which another call fills to $size bytes, or with $filled has filled.
complete() { [[ $(stat -c %s -- "$staged" 2>/dev/null) == "$size" ]]; }
await() {
  local i
  if [[ $filled ]]; then complete || fail system; return; fi
  for ((i = 0; i < 22000; i++)); do
    [[ -e $d/gone-$N ]] && { rm -f -- "$d/gone-$N"; fail system; }
    complete && return
    sleep 0.005
  done
  fail system
}
# Writers that compare first, and appends, take turns.
take_turn() { [[ -d $d ]] || mkdir -p -- "$d"; exec {lock}<"$d"; flock "$lock"; }

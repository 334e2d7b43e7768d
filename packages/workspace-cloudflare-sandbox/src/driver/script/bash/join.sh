# Adds one file to another. Run again, also at the same time, it adds nothing twice. Exits with 3 when
# what came before is gone. In: $whole; $part; $before: bytes that came before; $added bytes.
exec {lock}<"$whole" && flock "$lock" || exit 3
size=$(stat -c %s -- "$whole")
[[ -e $part ]] || { ((size == before + added)) && exit 0; exit 3; }
[[ $(stat -c %s -- "$part") == "$added" ]] && ((size >= before)) || exit 3
truncate -s "$before" -- "$whole" && cat -- "$part" >>"$whole" && rm -f -- "$part"

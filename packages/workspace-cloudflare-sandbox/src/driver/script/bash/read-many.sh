# Reads several files: for each a line with its bytes in base64, `-` for one that cannot be read,
# until the next one would be too much. In: the array paths; $left: bytes in all.
one() (
  say() { exit 1; }
  at "$1"; follow
  [[ -f ./$b && -r ./$b ]] || exit 1
  size=$(stat -L -c %s -- "./$b") || exit 1
  ((size <= $2)) || exit 2
  head -c "$size" -- "./$b" | base64 -w0
)
first=1
for f in "${paths[@]}"; do
  v=$(one "$f" "$left" 2>/dev/null); r=$?
  if ((r == 2 && first)); then v=$(one "$f" 8388608 2>/dev/null); r=$?; ((r == 2)) && r=1; fi
  ((r == 2)) && break
  if ((r)); then echo -; else echo "$v"; ((left -= ${#v} * 3 / 4)); fi
  first=0
done
say files

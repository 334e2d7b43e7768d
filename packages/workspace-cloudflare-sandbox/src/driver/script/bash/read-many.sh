# Reads several files, until the next one would be too much. For each it prints a line with the bytes in
# base64, `-` for one that cannot be read, or `=LENGTH` and the text itself on the lines after it.
# In: the array paths; $left: bytes in all.

# A short text of ASCII starts no program: a search may read a hundred thousand.
plain() (
  say() { exit 1; }
  at "$1"; follow
  [[ -f ./$b && -r ./$b ]] || exit 1
  IFS= read -r -d '' -n 8193 v <"./$b" && exit 1
  ((${#v} <= 8192)) && [[ $v != *[!$'\x01'-$'\x7f']* ]] || exit 1
  printf '=%s\n%s\n' "${#v}" "$v"
)
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
  if ((left >= 8192)) && plain "$f" 2>/dev/null; then ((left -= 8192)); first=0; continue; fi
  v=$(one "$f" "$left" 2>/dev/null); r=$?
  if ((r == 2 && first)); then v=$(one "$f" 8388608 2>/dev/null); r=$?; ((r == 2)) && r=1; fi
  ((r == 2)) && break
  if ((r)); then echo -; else echo "$v"; ((left -= ${#v} * 3 / 4)); fi
  first=0
done
say files

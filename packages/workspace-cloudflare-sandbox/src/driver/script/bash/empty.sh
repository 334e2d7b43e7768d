# Empties a directory, hidden files included, and makes it when missing. What is no directory, or a
# link to one, is put aside: a restore is exact, and loses nothing. In: $directory.
w=$directory
if [[ -L $w || ( -e $w && ! -d $w ) ]]; then
  for ((i = 1; i < 1000; i++)); do [[ -e $w.$i || -L $w.$i ]] || break; done
  mv -nT -- "$w" "$w.$i" || fail system
fi
mkdir -p -- "$w" || fail system
cd -P -- "$w" || fail system
find . -mindepth 1 -delete || fail system
say ok

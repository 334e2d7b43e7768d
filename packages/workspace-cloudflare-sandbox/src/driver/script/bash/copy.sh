# Copies a file, or a directory with everything in it; links inside stay links.
ends follow
s=${s%/.}
if [[ -d $s ]]; then
  [[ $PWD/$b/ == "$s"/* ]] && fail into-itself
  target
  cp -a -T -- "$s" "./$t" || undo
else
  [[ -f $s ]] || fail special
  follow
  target
  exists && [[ ! -f ./$b ]] && fail special
  [[ $s -ef ./$b ]] && ok "$b"
  cp -T --preserve=mode -- "$s" "./$t" || undo
  if exists; then chmod --reference="./$b" -- "./$t" || undo; fi
  chmod u-s,g-s,-t -- "./$t" || undo
fi
place "./$t"
ok "$b"

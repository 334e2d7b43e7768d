# Removes a file, a link, or a directory; of the workspace itself, what is in it. In: $path; $recursive.
at "$path"; present
if [[ $b == . ]]; then
  if [[ $recursive ]]; then
    find . -mindepth 1 -delete || fail system
  elif [[ $(find . -mindepth 1 -maxdepth 1 ! -name "$T*" -print -quit) ]]; then
    fail not-empty
  fi
  say ok
fi
if [[ -L ./$b || ! -d ./$b ]]; then
  rm -f -- "./$b" || fail system
elif [[ $recursive ]]; then
  rm -rf -- "./$b" || fail system
else
  rmdir -- "./$b" 2>/dev/null && say ok
  # What a write that was cut off has left is in no listing: it must not keep a directory.
  [[ $(find "./$b" -mindepth 1 -maxdepth 1 ! -name "$T*" -print -quit) ]] && fail not-empty
  find "./$b" -mindepth 1 -maxdepth 1 -name "$T*" -mmin +10 -exec rm -rf -- {} +
  rmdir -- "./$b" || fail system
fi
say ok

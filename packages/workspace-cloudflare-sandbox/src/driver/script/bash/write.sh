# Replaces a file in one step: a temporary file beside it, then a rename. In: $path, the content;
# $absent: only where nothing is; $checked: only over the $version.
fail() { [[ $kind == staged ]] && rm -f -- "$staged"; say fail "$@"; }
at "$path" make; follow
[[ -d ./$b ]] && fail is-directory
[[ $absent ]] && exists && fail exists
v= m=
if [[ $checked ]]; then
  take_turn
  if exists; then v=$(stat -L -c '%a %i-%s-%.9Y-%.9Z' -- "./$b") || fail system; m=${v%% *} v=${v#* }; fi
  [[ $v == "$version" ]] || fail version-conflict
fi
t=$T$N.tmp
undo() { rm -f -- "./$t"; fail system; }
case $kind in
  text) printf %s "$content" >"./$t" || undo ;;
  base64) base64 -d <<<"$content" >"./$t" || undo ;;
  *) await; mv -fT -- "$staged" "./$t" || undo ;;
esac
if [[ $checked ]]; then
  # The check of the version knows the mode: the mode of a new file needs no program.
  if [[ $m && ! ($m == 644 && $(umask) == 0022) ]]; then chmod "$m" -- "./$t" || undo; fi
elif [[ -e ./$b ]]; then chmod --reference="./$b" -- "./$t" || undo; fi
if [[ $absent ]]; then
  # Unlike a rename, a link never replaces.
  ln -T -- "./$t" "./$b" 2>/dev/null || { rm -f -- "./$t"; exists && fail exists; fail system; }
  rm -f -- "./$t"
else mv -fT -- "./$t" "./$b" || undo; fi
ok "$b"

# Says which container this is: keeps an epoch that is there, else writes the given one. Of two calls
# at once one wins, and both answer its epoch. A copy elsewhere outlives a clean-up: with the
# scratch directory the files of the workspace are not gone. In: $d; $R; $T; $fresh: the new epoch.
copy=/etc/.helix${d//\//-}
mark() { e=; [[ -f $1 ]] && read -r -n 64 e <"$1"; [[ $e =~ ^e[0-9a-f]{1,63}$ ]] || e=; [[ $e ]]; }
put() { rm -rf -- "$2"; echo "$1" >"$2-$$" && mv -T -- "$2-$$" "$2"; }
[[ -e $R || -L $R ]] || mkdir -p -- "$R"
# Only what is no directory: another call may have made this one since.
[[ -d $d && ! -L $d ]] || rm -f -- "$d"
mkdir -p -m 700 -- "$d" || say scratch
if mark "$d/epoch"; then
  # What calls that never ended have left.
  { find "$d" -maxdepth 1 -name 's-*' -mmin +1440 -delete
  find "$R/" -maxdepth 1 -name "$T*" -mmin +1440 -delete
  } </dev/null >/dev/null &
  say kept "$e"
fi
exec {lock}<"$d"; flock -w 10 "$lock"
mark "$d/epoch" && say kept "$e"
mark "$copy" || e=$fresh
put "$e" "$d/epoch"; put "$e" "$copy"
mark "$d/epoch" || say scratch
say kept "$e"

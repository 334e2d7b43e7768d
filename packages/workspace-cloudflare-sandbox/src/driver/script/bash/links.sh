# The functions of paths.sh for paths of any kind.
root() {
  if [[ $1 != "$R" && $1 != "$R"/* ]]; then top=/ rest=${1#/}; cd /; return; fi
  if [[ ! -e $R && ! -L $R ]]; then mkdir -p -- "$R" || fail system; fi
  if [[ ! -d $R ]]; then [[ -e $R ]] && fail root file; fail root link; fi
  into "$R" || fail system
  top=$PWD rest=${1#"$R"}; rest=${rest#/}
}
at() {
  local make=$2 c w
  root "$1"; b=. w=$top/$rest; w=${w%/*}
  while [[ $rest == */* ]]; do
    c=${rest%%/*} rest=${rest#*/}
    [[ $refuse && -L ./$c ]] && fail escape
    if [[ -d ./$c ]]; then into "./$c" || fail system; inside
    elif [[ -e ./$c ]]; then fail not-directory
    elif [[ -L ./$c ]]; then
      c=$(realpath -m -- "./$c"; echo /); c=${c%$'\n'/}
      [[ $top == / || $c == "$top"/* ]] || fail escape
      fail not-found
    elif [[ $make ]]; then
      c=$c/${rest%/*}; [[ $rest == */* ]] || c=${c%%/*}
      mkdir -p -- "./$c" || fail system
      into "./$c" || fail system; inside; rest=${rest##*/}
    else fail not-found; fi
  done
  [[ $rest ]] && b=$rest
  # Also a link that was put there a moment ago has led to another directory.
  [[ ! $refuse || $top == / || $PWD == "$w" ]] || fail escape
}
follow() {
  local t
  [[ -L ./$b ]] || return 0
  [[ $refuse ]] && fail escape
  t=$(realpath -m -- "./$b"; echo /); t=${t%$'\n'/}
  [[ $top == / || $t == "$top" || $t == "$top"/* ]] || fail escape
  [[ -L $t ]] && fail not-found
  if [[ $t == "$top" ]]; then into "$t" || fail system; inside; b=.; return; fi
  if ! into "${t%/*}/" 2>/dev/null; then [[ -e ${t%/*} ]] && fail not-directory; fail not-found; fi
  inside; b=${t##*/}
}

# What a copy and a move share. In: $from; $to; $overwrite; $depth and $bytes: what a path below a
# directory may have more than the directory itself, empty without limits.

# Rejects a directory with something below it that would be nested too deep, before anything is made.
nesting() {
  local n
  [[ $depth && -d $s && ! -L $s ]] || return 0
  [[ $(find "$s" -mindepth "$((depth + 1))" -print -quit) ]] && fail nested
  n=${#s}
  [[ $(find "$s" -regextype posix-extended -regex ".{$((n + bytes + 1)),}" -print -quit) ]] &&
    fail nested
  return 0
}
# Sets $s to the source, goes to the directory of the target, and names a temporary file $t there.
ends() {
  at "$from"; "$1"; present
  s=$PWD/$b; s=${s#/}; s=/$s
  [[ -d $s && ! -L $s ]] && { s=$(cd -P -- "$s" && printf '%s/' "$PWD"); s=${s%/}; }
  nesting
  [[ $PWD/$b == */. ]] && s=$s/.
  at "$to" make
  t=$T$N.tmp
}
undo() { rm -rf -- "./$t"; fail system; }
target() {
  [[ -d ./$b && ! -L ./$b ]] && fail is-directory
  if [[ ! $overwrite ]]; then exists && fail exists; return 0; fi
  [[ -d $s && ! -L $s ]] && exists && fail not-directory
  return 0
}
# Puts something in its place; without $overwrite never over what came in the meantime.
place() {
  if [[ $overwrite ]]; then mv -fT -- "$1" "./$b" || undo; return; fi
  mv -nT -- "$1" "./$b" || undo
  [[ -e $1 || -L $1 ]] && { rm -rf -- "./$t"; fail exists; }
  return 0
}

# Describes several paths, links not followed: a line `MODE SIZE TIME INODE CHANGE` each, or `-` for what
# is missing, or a link. Neighbours in a directory are described by one process. In: the array paths.
form='%f %s %.9Y %i %.9Z\n'
one() (
  say() { exit 1; }
  at "$1"; follow; present
  exec stat --printf "$form" -- "./$b"
)
describe_group() {
  local lines name
  ((${#group[@]})) || return
  if lines=$(exec stat --printf "$form" -- "${group[@]}"); then printf '%s\n' "$lines"
  # One has vanished in between: which one is not said.
  else for name in "${group[@]}"; do one "$w/${name#./}" || echo -; done; fi
  group=()
}
group=() w=
exec 2>/dev/null
for f in "${paths[@]}"; do
  # As `at` without links on the way; all else is left to it.
  [[ ${f%/*} == "$w" ]] || { describe_group; w=${f%/*}; straight "$w" || w=; }
  b=./${f##*/}
  if [[ $w && -e $b && ! -L $b ]]; then group+=("$b")
  else describe_group; one "$f" || echo -; fi
done
describe_group
say stats

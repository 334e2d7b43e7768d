# Sets permissions, in the order given. In: the arrays paths and modes.
for i in "${!paths[@]}"; do
  at "${paths[i]}"; follow; present
  chmod -- "${modes[i]}" "./$b" || fail system
done
say ok

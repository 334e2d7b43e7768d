# Makes a link. In: $path; $target.
at "$path"
exists && fail exists
ln -sT -- "$target" "./$b" || fail system
say ok

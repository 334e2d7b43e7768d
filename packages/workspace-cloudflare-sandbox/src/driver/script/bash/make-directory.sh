# Makes a directory. In: $path; $recursive: its parents too, and one that exists is fine.
at "$path" "$recursive"
[[ -L ./$b ]] && follow
if [[ -d ./$b ]]; then [[ $recursive ]] && say ok; fail exists; fi
exists && fail exists
mkdir -- "./$b" || fail system
say ok

# Moves a file or a directory; a link is moved as a link.
ends :
[[ $s == */. ]] && fail denied
if [[ -d $s && ! -L $s && $PWD/$b/ == "$s"/?* ]]; then fail into-itself; fi
target
[[ $PWD/$b == "$s" ]] && ok "$b"
place "$s"
[[ -e ./$b ]] || say ok a1ff 0 0.0 0
ok "$b"

# Answers with the text of a link. In: $path.
at "$path"
[[ -L ./$b ]] || fail not-found
readlink -n -- "./$b" | base64 -w0
say link

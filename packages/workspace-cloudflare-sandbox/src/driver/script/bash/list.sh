# Lists a directory, one NUL-ended `LETTER SIZE TIME INODE CHANGE PATH` an entry, in base64.
# In: $path; $recursive; $most entries; $skip: pattern of a directory that is left out.
at "$path"; follow; present
[[ -d ./$b ]] || fail not-directory
into "./$b" || fail system; inside
depth=(-mindepth 1) prune=()
[[ $recursive ]] || depth+=(-maxdepth 1)
[[ $skip ]] && prune=(-path "./$skip" -prune -o)
find . "${depth[@]}" "${prune[@]}" ! -name "$T*" -printf '%y %s %T@ %i %C@ %P\0' |
  head -z -n "$most" | base64 -w0
say entries

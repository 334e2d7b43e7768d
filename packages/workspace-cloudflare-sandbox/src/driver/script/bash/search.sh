# Names the files that hold a text, each byte read once: NUL-ended, in base64. Those that are too
# large are on the second line. In: $path; $literal, empty for every file; $flags of grep; $most bytes
# of a file, empty without limit; $count of files; $skip: pattern of a directory that is left out.
at "$path"; follow; present
[[ -d ./$b ]] && { into "./$b" || fail system; inside; b=.; }
of=.; [[ $b == . ]] || of=./$b
prune=() small=()
[[ $skip ]] && prune=(-path "./$skip" -prune -o)
[[ $most ]] && small=(-size "-$((most + 1))c")
files() { find "$of" "${prune[@]}" ! -name "$T*" -type f "$@" -print0; }
holding() { if [[ $literal ]]; then xargs -0r grep "$flags" -e "$literal" --; else cat; fi; }
files "${small[@]}" | holding | head -z -n "$count" | base64 -w0
echo
[[ $most ]] && files -size "+${most}c" | head -z -n "$count" | base64 -w0
say found "$of"

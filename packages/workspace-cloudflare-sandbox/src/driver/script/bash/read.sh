# Reads a file: answers `plain` with what may be text, `base64` with the bytes, or `large` with the
# size and the path behind all links, to be streamed. In: $path; $offset; $length, empty for the rest;
# $most bytes, empty without limit; $inline bytes at most in the answer; $plain: as plain text up to
# so many bytes, empty when it is known to be no text.
at "$path"; follow
present
[[ -d ./$b ]] && fail is-directory
[[ -f ./$b ]] || fail special
[[ -r ./$b ]] || fail denied
# A byte order mark could be lost on the way, and what comes in front of it is no text.
if [[ $plain ]] && ! IFS= read -r -d '' -n "$((plain + 1))" v <"./$b" && ((${#v} <= plain)) &&
  [[ $v != $'\xef\xbb\xbf'* ]]; then printf %s "$v"; say plain "${#v}"; fi
size=$(stat -L -c %s -- "./$b") || fail system
[[ $length ]] || length=$size
((offset > size)) && offset=$size
((length > size - offset)) && length=$((size - offset))
[[ $most ]] && ((length > most)) && fail too-large "$size"
if ((length > inline)); then printf '%s' "$PWD/$b" | base64 -w0; say large "$size"; fi
if ((offset == 0 && length == size)); then base64 -w0 -- "./$b"
else tail -c "+$((offset + 1))" -- "./$b" | head -c "$length" | base64 -w0; fi
say base64 "$length"

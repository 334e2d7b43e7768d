# `emit FILE DESCRIPTOR MOST WHOLE` writes a captured output to stdout and leaves a note about it in
# $note: encoding, bytes that follow, bytes of the whole, bytes of the head, whether it was stored.
# `plain` text up to 16,384 bytes is itself, `base64` is anything else; each ends with a line break.
# What is not to be stored has an empty WHOLE.
emit() {
  local file=/proc/$$/fd/$2 max=$3 whole=$4 v= size= head
  # A command may have put a pipe in its place, before this was opened or after.
  if [[ ! $2 || ! -f $file ]]; then echo; note='plain 0 0 0 0'; return; fi
  if ! IFS= read -r -d '' -n 16385 v <"$file"; then
    size=${#v}
    if ((size <= max)) && [[ $v != *[!$'\x01'-$'\x7f']* ]]; then
      printf '%s\n' "$v"
      note="plain $size $size 0 0"
      return
    fi
  fi
  # A NUL ended the reading too early, or there is more.
  [[ $size ]] || size=$(stat -L -c %s -- "$file")
  if [[ ! $size ]]; then echo; note='plain 0 0 0 0'; return; fi
  if ((size <= max)); then
    base64 -w0 -- "$file"; echo
    note="base64 $size $size 0 0"
    return
  fi
  head=$((max / 10))
  { head -c "$head" -- "$file"; tail -c "$((max - head))" -- "$file"; } | base64 -w0; echo
  note="base64 $max $size $head 0"
  [[ $whole ]] && mkdir -p -- "${whole%/*}" || return
  # Removed by the command, it has no name to move.
  if [[ $1 -ef $file ]]; then mv -fT -- "$1" "$whole"; else cat -- "$file" >"$whole"; fi &&
    note="base64 $max $size $head 1"
}

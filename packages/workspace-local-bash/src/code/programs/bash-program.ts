/** The bash of a context: as `PYTHON_PROGRAM`. No program that code starts gets the channel. */
export const BASH_PROGRAM = String.raw`
while IFS= read -r -d '' -u 4 helix_mark && IFS= read -r -d '' -u 4 helix_code; do
  eval "$helix_code" 4>&-
  helix_status=$?
  printf '\x1e%s\x1e' "$helix_mark" 2>/dev/null
  printf '\x1e%s\x1e' "$helix_mark" >&2 2>/dev/null
  printf '%s J {"type":"done","status":%d}\n' "$helix_mark" "$helix_status" >&4
done
`

/**
 * Bash that sets `$epoch` to the mark of the container in `$d`; `-` for none. What somebody has
 * put in its place must not hold it up: only an ordinary file is opened, and little of it is read.
 */
export const READ_EPOCH =
  'epoch=-; [[ -f $d/epoch ]] && { read -r -n 64 epoch <"$d/epoch"; } 2>/dev/null'

/** What `ensure` writes: anything else in the file is no mark. */
export const EPOCH_PATTERN = '^e[0-9a-f]{1,63}$'

import { quoteWord } from '@helix-agents/core/provider'

/** Exit code when what came before is gone: somebody removed it, or the container is another one. */
export const LOST = 3

export interface Join {
  readonly path: string
  /** A file that is added to it, and is no more afterwards. */
  readonly part: string
  /** Bytes of `path` that came before. */
  readonly fromBytes: number
  readonly addedBytes: number
}

/** The script that adds one file to another. Run again, also meanwhile, it adds nothing twice. */
export function joinScript({ path, part, fromBytes, addedBytes }: Join): string {
  return `export LC_ALL=C
whole=${quoteWord(path)} part=${quoteWord(part)}
exec {lock}<"$whole" && flock "$lock" || exit ${LOST}
size=$(stat -c %s -- "$whole")
[[ -e $part ]] || { ((size == ${fromBytes + addedBytes})) && exit 0; exit ${LOST}; }
[[ $(stat -c %s -- "$part") == ${addedBytes} ]] && ((size >= ${fromBytes})) || exit ${LOST}
truncate -s ${fromBytes} -- "$whole" && cat -- "$part" >>"$whole" && rm -f -- "$part"
`
}

import { quoteWord } from '@helix-agents/core/provider'

/** A file up to this size is returned as it is when it holds no NUL. */
const PLAIN_BYTES = 16_384

export interface ReadRange {
  readonly offset: number
  readonly length?: number
  readonly maxBytes?: number
  /** A longer range is not sent, but named, to be streamed. */
  readonly inlineBytes: number
  /** It is known to be no text. */
  readonly isBinary: boolean
}

/**
 * The script that reads a file: answers `plain` with what may be text, `base64` with the bytes, or
 * `large` with the size and the path behind all links.
 */
export function readScript(path: string, range: ReadRange): string {
  const isPlain = range.offset === 0 && range.length === undefined && !range.isBinary
  return `at ${quoteWord(path)}; follow
present
[[ -d ./$b ]] && fail is-directory
[[ -f ./$b ]] || fail special
[[ -r ./$b ]] || fail denied
${isPlain ? readPlain(range) : ''}
size=$(stat -L -c %s -- "./$b") || fail system
offset=${range.offset} length=${range.length ?? '$size'}
((offset > size)) && offset=$size
((length > size - offset)) && length=$((size - offset))
((length > ${range.maxBytes ?? 'length'})) && fail too-large "$size"
if ((length > ${range.inlineBytes})); then printf '%s' "$PWD/$b" | base64 -w0; say large "$size"; fi
if ((offset == 0 && length == size)); then base64 -w0 -- "./$b"
else tail -c "+$((offset + 1))" -- "./$b" | head -c "$length" | base64 -w0; fi
say base64 "$length"
`
}

/**
 * The script that reads several files: for each a line with its bytes in base64, \`-\` for one
 * that cannot be read, until the next one would be too much.
 */
export function readManyScript(paths: readonly string[], maxBytes: number): string {
  return `one() (
  say() { exit 1; }
  at "$1"; follow
  [[ -f ./$b && -r ./$b ]] || exit 1
  size=$(stat -L -c %s -- "./$b") || exit 1
  ((size <= $2)) || exit 2
  head -c "$size" -- "./$b" | base64 -w0
)
left=${maxBytes} first=1
for f in ${paths.map(quoteWord).join(' ')}; do
  v=$(one "$f" "$left" 2>/dev/null); r=$?
  if ((r == 2 && first)); then v=$(one "$f" 8388608 2>/dev/null); r=$?; ((r == 2)) && r=1; fi
  ((r == 2)) && break
  if ((r)); then echo -; else echo "$v"; ((left -= \${#v} * 3 / 4)); fi
  first=0
done
say files
`
}

/** A byte order mark could be lost on the way, and what comes in front of it is no text. */
function readPlain({ maxBytes, inlineBytes }: ReadRange): string {
  const limit = Math.min(PLAIN_BYTES, inlineBytes, maxBytes ?? PLAIN_BYTES)
  return `if ! IFS= read -r -d '' -n ${limit + 1} v <"./$b" && ((\${#v} <= ${limit})) \\
  && [[ $v != $'\\xef\\xbb\\xbf'* ]]; then printf %s "$v"; say plain "\${#v}"; fi`
}

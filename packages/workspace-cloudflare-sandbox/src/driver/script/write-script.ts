import { quoteWord } from '@helix-agents/core/provider'
import { TEMPORARY_PREFIX } from './file-prelude.ts'

/** Where the new content comes from. */
export type ContentSource =
  | { readonly from: 'text'; readonly text: string }
  | { readonly from: 'base64'; readonly text: string }
  /** A file that another call is still filling, or has filled; complete at `sizeBytes`. */
  | {
      readonly from: 'staged'
      readonly path: string
      readonly sizeBytes: number
      readonly isFilled?: boolean
    }

export interface WriteConditions {
  readonly ifVersion?: string
  readonly ifAbsent?: boolean
}

/** Longest wait for a staged file. */
const STAGE_WAIT_MS = 110_000
const STEP_MS = 5

/** The script that replaces a file in one step: a temporary file beside it, then a rename. */
export function writeScript(
  path: string,
  source: ContentSource,
  conditions: WriteConditions,
): string {
  const isConditional = conditions.ifVersion !== undefined
  return `drop() { ${source.from === 'staged' ? `rm -f -- ${quoteWord(source.path)}` : ':'}; }
fail() { drop; say fail "$@"; }
at ${quoteWord(path)} make; follow
[[ -d ./$b ]] && fail is-directory
${conditions.ifAbsent === true ? 'exists && fail exists' : ''}
${isConditional ? LOCK : ''}
${conditions.ifVersion === undefined ? '' : checkVersion(conditions.ifVersion)}
t=${TEMPORARY_PREFIX}$N.tmp
undo() { rm -f -- "./$t"; fail system; }
${fill(source)}
${isConditional ? KEEP_KNOWN_MODE : KEEP_MODE}
${conditions.ifAbsent === true ? LINK : 'mv -fT -- "./$t" "./$b" || undo'}
ok "$b"
`
}

export interface AppendLimits {
  readonly addedBytes: number
  readonly maxBytes?: number
}

/** The script that adds to the end of a file. */
export function appendScript(path: string, source: ContentSource, limits: AppendLimits): string {
  const add =
    source.from === 'text'
      ? `printf %s ${quoteWord(source.text)} >>"./$b" || fail system`
      : source.from === 'base64'
        ? `base64 -d <<<${quoteWord(source.text)} >>"./$b" || fail system`
        : `${awaitStaged(source)}
cat -- ${quoteWord(source.path)} >>"./$b" || fail system
rm -f -- ${quoteWord(source.path)}`
  return `at ${quoteWord(path)} make; follow
[[ -d ./$b ]] && fail is-directory
[[ -e ./$b && ! -f ./$b ]] && fail special
${LOCK}
${limits.maxBytes === undefined ? '' : checkSize(limits.addedBytes, limits.maxBytes)}
${add}
ok "$b"
`
}

/** Writers that compare first, and appends, take turns. */
const LOCK = `[[ -d $d ]] || mkdir -p -- "$d"; exec {lock}<"$d"; flock "$lock"`

/** Unlike a rename, a link never replaces. */
const LINK = `ln -T -- "./$t" "./$b" 2>/dev/null || { rm -f -- "./$t"; exists && fail exists; fail system; }
rm -f -- "./$t"`

const KEEP_MODE = `if [[ -e ./$b ]]; then chmod --reference="./$b" -- "./$t" || undo; fi`

/** The check of the version has told the mode: what a new file has anyway needs no program. */
const KEEP_KNOWN_MODE = `if [[ $m && ! ($m == 644 && $(umask) == 0022) ]]; then chmod "$m" -- "./$t" || undo; fi`

function checkSize(addedBytes: number, maxBytes: number): string {
  return `size=0
if exists; then size=$(stat -L -c %s -- "./$b") || fail system; fi
((size + ${addedBytes} > ${maxBytes})) && fail too-large`
}

function checkVersion(version: string): string {
  return `v= m=
if exists; then v=$(stat -L -c '%a %i-%s-%.9Y-%.9Z' -- "./$b") || fail system; m=\${v%% *} v=\${v#* }; fi
[[ $v == ${quoteWord(version)} ]] || fail version-conflict`
}

function fill(source: ContentSource): string {
  if (source.from === 'text') return `printf %s ${quoteWord(source.text)} >"./$t" || undo`
  if (source.from === 'base64') return `base64 -d <<<${quoteWord(source.text)} >"./$t" || undo`
  return `${awaitStaged(source)}
mv -fT -- ${quoteWord(source.path)} "./$t" || undo`
}

function awaitStaged({
  path,
  sizeBytes,
  isFilled = false,
}: ContentSource & { readonly from: 'staged' }): string {
  const isComplete = `[[ $(stat -c %s -- ${quoteWord(path)} 2>/dev/null) == ${sizeBytes} ]]`
  if (isFilled) return `${isComplete} || fail system`
  const looks = STAGE_WAIT_MS / STEP_MS
  return `for ((i = 0; i < ${looks}; i++)); do
  [[ -e $d/gone-$N ]] && { rm -f -- "$d/gone-$N"; fail system; }
  ${isComplete} && break
  sleep ${STEP_MS / 1000}
done
((i < ${looks})) || fail system`
}

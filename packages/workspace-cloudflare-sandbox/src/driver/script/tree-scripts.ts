import type { TransferOptions } from '../port.ts'
import { quoteWord } from '@helix-agents/core/provider'
import { TEMPORARY_PREFIX } from './file-prelude.ts'

/** One line of a listing, for `readEntries`. */
const ENTRY = String.raw`'%y %s %T@ %i %C@ %P\0'`
const TEMPORARY = `-name ${quoteWord(`${TEMPORARY_PREFIX}*`)}`
const OWN = `! ${TEMPORARY}`

export function statScript(path: string): string {
  return `at ${quoteWord(path)}; follow; present; ok "$b"\n`
}

/** Answers with the path relative to the workspace, links followed, whatever of it is missing. */
export function realPathScript(path: string, followLast: boolean): string {
  return `root ${quoteWord(path)}
${followLast ? 'l=' : 'l=${rest##*/}; rest=${rest%"$l"}'}
p=$(realpath -m -- "./$rest"; echo /); p=\${p%$'\\n'/}\${l:+/$l}
[[ $p == "$top" || $p == "$top"/* ]] || fail escape
${followLast ? '[[ -L $p ]] && fail not-found' : ''}
p=\${p#"$top"}; printf %s "\${p#/}" | base64 -w0
say path
`
}

export function listScript(
  path: string,
  options: {
    readonly isRecursive: boolean
    readonly maxEntries: number
    readonly skip: string | undefined
  },
): string {
  const depth = options.isRecursive ? '-mindepth 1' : '-mindepth 1 -maxdepth 1'
  return `at ${quoteWord(path)}; follow; present
[[ -d ./$b ]] || fail not-directory
into "./$b" || fail system; inside
find . ${depth} ${pruned(options.skip)} ${OWN} -printf ${ENTRY} \\
  | head -z -n ${options.maxEntries + 1} | base64 -w0
say entries
`
}

/** Leaves a directory out, with all that is in it. */
function pruned(skip: string | undefined): string {
  // In a pattern, so that these stand for themselves.
  if (skip === undefined) return ''
  const literal = skip.replaceAll(/[\\[\]*?]/g, String.raw`\$&`)
  return `-path ${quoteWord(`./${literal}`)} -prune -o`
}

export function makeDirectoryScript(path: string, isRecursive: boolean): string {
  return `at ${quoteWord(path)} ${isRecursive ? 'make' : ''}
[[ -L ./$b ]] && follow
if [[ -d ./$b ]]; then ${isRecursive ? 'say ok' : 'fail exists'}; fi
exists && fail exists
mkdir -- "./$b" || fail system
say ok
`
}

// What a write that was cut off has left is in no listing: it must not keep a directory.
const REMOVE_EMPTY = `rmdir -- "./$b" 2>/dev/null && say ok
[[ $(find "./$b" -mindepth 1 -maxdepth 1 ${OWN} -print -quit) ]] && fail not-empty
find "./$b" -mindepth 1 -maxdepth 1 ${TEMPORARY} -mmin +10 -exec rm -rf -- {} +
rmdir -- "./$b" || fail system`

/** Of the workspace itself, it removes what is in it. */
export function removeScript(path: string, isRecursive: boolean): string {
  const whole = isRecursive ? 'rm -rf -- "./$b" || fail system' : REMOVE_EMPTY
  return `at ${quoteWord(path)}; present
if [[ $b == . ]]; then ${isRecursive ? 'find . -mindepth 1 -delete && say ok; fail system' : 'fail denied'}; fi
if [[ -d ./$b && ! -L ./$b ]]; then ${whole}
else rm -f -- "./$b" || fail system; fi
say ok
`
}

/** Copies a file, or a directory with everything in it; links inside stay links. */
export function copyScript(from: string, to: string, options: TransferOptions): string {
  const overwrite = options.overwrite ?? false
  return `${bothEnds(from, to, { ...options, follow: 'follow' })}
s=\${s%/.}
if [[ -d $s ]]; then
  [[ $PWD/$b/ == "$s"/* ]] && fail into-itself
  ${target(overwrite)}
  cp -a -T -- "$s" "./$t" || undo
else
  [[ -f $s ]] || fail special
  follow
  ${target(overwrite)}
  exists && [[ ! -f ./$b ]] && fail special
  [[ $s -ef ./$b ]] && ok "$b"
  cp -T --preserve=mode -- "$s" "./$t" || undo
  if exists; then chmod --reference="./$b" -- "./$t" || undo; fi
  chmod u-s,g-s,-t -- "./$t" || undo
fi
${place('"./$t"', overwrite)}
ok "$b"
`
}

/** Moves a file or a directory; a link is moved as a link. */
export function moveScript(from: string, to: string, options: TransferOptions): string {
  const overwrite = options.overwrite ?? false
  return `${bothEnds(from, to, { ...options, follow: ':' })}
[[ $s == */. ]] && fail denied
if [[ -d $s && ! -L $s && $PWD/$b/ == "$s"/?* ]]; then fail into-itself; fi
${target(overwrite)}
[[ $PWD/$b == "$s" ]] && ok "$b"
${place('"$s"', overwrite)}
[[ -e ./$b ]] || say ok a1ff 0 0.0 0
ok "$b"
`
}

/** Refuses a directory with something below it that would be nested too deep, before anything is made. */
function nesting({ below }: TransferOptions): string {
  if (below === undefined) return ':'
  const { depth, bytes } = below
  return `if [[ -d $s && ! -L $s ]]; then
  [[ $(find "$s" -mindepth ${depth + 1} -print -quit) ]] && fail nested
  n=$(LC_ALL=C; printf %s "\${#s}")
  [[ $(LC_ALL=C find "$s" -regextype posix-extended -regex ".{$((n + ${bytes + 1})),}" -print -quit) ]] && fail nested
fi`
}

function bothEnds(
  from: string,
  to: string,
  { follow, ...options }: TransferOptions & { readonly follow: string },
): string {
  return `at ${quoteWord(from)}; ${follow}; present
s=$PWD/$b; s=\${s#/}; s=/$s
[[ -d $s && ! -L $s ]] && { s=$(cd -P -- "$s" && printf '%s/' "$PWD"); s=\${s%/}; }
${nesting(options)}
[[ $PWD/$b == */. ]] && s=$s/.
at ${quoteWord(to)} make
t=${TEMPORARY_PREFIX}$N.tmp
undo() { rm -rf -- "./$t"; fail system; }`
}

function target(overwrite: boolean): string {
  const taken = overwrite
    ? '[[ -d $s && ! -L $s ]] && exists && fail not-directory'
    : 'exists && fail exists'
  return `[[ -d ./$b && ! -L ./$b ]] && fail is-directory
${taken}`
}

/** Puts something in its place; without \`overwrite\` never over what came in the meantime. */
function place(source: string, overwrite: boolean): string {
  if (overwrite) return `mv -fT -- ${source} "./$b" || undo`
  return `mv -nT -- ${source} "./$b" || undo
[[ -e ${source} || -L ${source} ]] && { rm -rf -- "./$t"; fail exists; }`
}

export interface SearchScriptQuery {
  readonly literal: string
  readonly ignoreCase: boolean
  readonly maxFileBytes: number
  readonly maxFiles: number
  readonly skip?: string
}

/** The script that finds the files which hold a literal, each byte read once. */
export function searchScript(path: string, query: SearchScriptQuery): string {
  const size = Number.isFinite(query.maxFileBytes) ? Math.floor(query.maxFileBytes) : undefined
  const fits = size === undefined ? '' : `-size -${size + 1}c`
  const matches = matcher(query)
  const large =
    size === undefined
      ? ':'
      : `find "$of" ${pruned(query.skip)} ${OWN} -type f -size +${size}c -print0`
  return `at ${quoteWord(path)}; follow; present
[[ -d ./$b ]] && { into "./$b" || fail system; inside; b=.; }
of=.; [[ $b == . ]] || of=./$b
find "$of" ${pruned(query.skip)} ${OWN} -type f ${fits} -print0 | ${matches} | head -z -n ${query.maxFiles + 1} | base64 -w0
echo
${large} | head -z -n ${query.maxFiles + 1} | base64 -w0
say found "$of"
`
}

/** \`grep\` folds the case of ASCII letters only: for others every file is a candidate. */
function matcher({ literal, ignoreCase }: SearchScriptQuery): string {
  // oxlint-disable-next-line no-control-regex
  const isAscii = /^[\x01-\x7F]*$/.test(literal)
  if (literal === '' || literal.includes('\0') || (ignoreCase && !isAscii)) return 'cat'
  const flags = `-laFZs${ignoreCase ? 'i' : ''}`
  return `xargs -0r grep ${flags} -e ${quoteWord(literal)} --`
}

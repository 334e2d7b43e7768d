import { MAX_PATH_BYTES } from '../path/path.ts'
import { decodeText } from '../text/bytes.ts'
import { patchFailed, type PatchHunk, type PatchSection, type SectionKind } from './patch-model.ts'
import type { PatchReader } from './patch-reader.ts'
import { readHunk } from './read-hunk.ts'

/** What the lines in front of the first hunk say. */
interface Headers {
  /** Of `diff --git`, `---`, `rename from` and their counterparts. */
  gitNames?: readonly [from: string, to: string]
  from?: string
  to?: string
  moves?: 'move' | 'copy'
  movedFrom?: string
  movedTo?: string
  newMode?: string
  removes?: boolean
}

const NOWHERE = '/dev/null'

/** Whether the next line begins a file of a unified diff. */
export function startsUnified(reader: PatchReader): boolean {
  return /^(?:diff |Index: |--- )/.test(reader.next) || isRule(reader)
}

/**
 * Takes one file of a unified diff, with the headers of git or without.
 * @throws {ToolInputError} `patch-failed` for what cannot be applied: modes, links, binary content.
 */
export function readUnified(reader: PatchReader): PatchSection {
  const at = reader.at + 1
  const headers: Headers = {}
  if (reader.next.startsWith('diff ')) readDiffLine(reader, headers)
  else if (reader.next.startsWith('Index: ')) reader.take()
  if (isRule(reader)) reader.take()
  readNames(reader, headers)
  const file = headers.to ?? headers.from ?? headers.movedTo ?? headers.gitNames?.[1] ?? ''
  const hunks = readHunks(reader, file)
  return toSection(headers, hunks, at)
}

function readHunks(reader: PatchReader, file: string): PatchHunk[] {
  const hunks: PatchHunk[] = []
  while (reader.lineAt(reader.nextText()).startsWith('@@')) {
    reader.skipBlank()
    hunks.push(readHunk(reader, { file, number: hunks.length + 1, takesScopes: false }))
  }
  return hunks
}

function readDiffLine(reader: PatchReader, headers: Headers): void {
  const line = reader.take()
  if (/^diff --(?:cc|combined) /.test(line)) {
    throw patchFailed(
      `line ${reader.at} of the patch begins a combined diff, which cannot be applied`,
      'Send a plain unified diff against the files as they are now.',
    )
  }
  const names = line.startsWith('diff --git ')
    ? gitNamesOf(line.slice('diff --git '.length))
    : undefined
  if (names !== undefined) headers.gitNames = names
  while (!reader.isDone && readExtended(reader, headers));
}

/** The line of `=` that some tools draw above the names. */
function isRule(reader: PatchReader): boolean {
  return /^={20,}\s*$/.test(reader.next) && reader.lineAt(reader.at + 1).startsWith('--- ')
}

/** What a line that git puts between `diff --git` and `---` says. */
type TakeHeader = (headers: Headers, value: string) => void

const nothing: TakeHeader = () => undefined
const EXTENDED: ReadonlyMap<string, TakeHeader> = new Map(
  Object.entries<TakeHeader>({
    'old mode': nothing,
    'new mode': nothing,
    index: nothing,
    'similarity index': nothing,
    'dissimilarity index': nothing,
    'Binary file': nothing,
    'Binary files': nothing,
    'GIT binary patch': nothing,
    'new file mode': (headers, value) => {
      headers.newMode = value
    },
    'deleted file mode': (headers) => {
      headers.removes = true
    },
    'rename from': (headers, value) => {
      Object.assign(headers, { moves: 'move', movedFrom: unquote(value) })
    },
    'rename to': (headers, value) => {
      Object.assign(headers, { moves: 'move', movedTo: unquote(value) })
    },
    'copy from': (headers, value) => {
      Object.assign(headers, { moves: 'copy', movedFrom: unquote(value) })
    },
    'copy to': (headers, value) => {
      Object.assign(headers, { moves: 'copy', movedTo: unquote(value) })
    },
  }),
)
const EXTENDED_LINE = new RegExp(`^(${[...EXTENDED.keys()].toReversed().join('|')})(?: (.*))?$`)

/** Takes one of these lines; false for any other. */
function readExtended(reader: PatchReader, headers: Headers): boolean {
  const [, word = '', value = ''] = EXTENDED_LINE.exec(reader.next.trimEnd()) ?? []
  const take = EXTENDED.get(word)
  if (take === undefined) return false
  rejectUnfit(reader, word, value)
  take(headers, value)
  reader.take()
  return true
}

function rejectUnfit(reader: PatchReader, word: string, value: string): void {
  const where = reader.describeNext()
  if (word === 'old mode' || word === 'new mode') {
    throw patchFailed(
      `${where} changes the mode of a file, which a patch cannot do here`,
      'Leave the lines "old mode" and "new mode" out, and change the mode with a command (chmod).',
    )
  }
  if (word.startsWith('Binary') || word === 'GIT binary patch') {
    throw patchFailed(
      `${where} is of a binary file, which a patch cannot change here`,
      'Leave this file out of the patch, and change it with a command or with copy and move.',
    )
  }
  if (/\b(?:120000|160000)$/.test(value)) {
    throw patchFailed(
      `${where} is of a link or a submodule, which a patch cannot change here`,
      'Leave this file out of the patch, and change it with a command (ln).',
    )
  }
}

/** Takes `---` and `+++`, where they are there. */
function readNames(reader: PatchReader, headers: Headers): void {
  const next = reader.nextText()
  if (!reader.lineAt(next).startsWith('--- ')) return
  reader.skipBlank()
  const old = nameOf(reader.take())
  if (!reader.next.startsWith('+++ ')) {
    throw patchFailed(
      `line ${reader.at} of the patch names the old file ${JSON.stringify(old)}, and no line +++ follows it`,
    )
  }
  headers.from = old
  headers.to = nameOf(reader.take())
}

/** The name in a line `--- name`, without a time behind it. */
function nameOf(line: string): string {
  const text = line.slice(4).trimEnd()
  if (text.startsWith('"')) return unquote(text)
  return (text.split('\t', 1)[0] ?? '').replace(/ \d{4}-\d\d-\d\d \d\d:\d\d.*$/, '').trimEnd()
}

/** The names of `diff --git a/x b/x`; undefined when they cannot be distinguished. */
function gitNamesOf(text: string): readonly [string, string] | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)\s*$/.exec(text)
  if (quoted !== null) return [unquote(quoted[1] ?? ''), unquote(quoted[2] ?? '')]
  const half = (text.length - 1) / 2
  const [from, to] = [text.slice(0, half), text.slice(half + 1)]
  const isSame =
    from === to || (from.startsWith('a/') && to.startsWith('b/') && from.slice(2) === to.slice(2))
  return isSame && text[half] === ' ' ? [from, to] : undefined
}

/** A quoted name of more characters is longer than a path may be: an escape takes four for a byte, and `a/` few. */
const MAX_QUOTED_CHARACTERS = 5 * MAX_PATH_BYTES

/** Undoes the quotes of git: octal bytes and the escapes of C. One that is too long keeps its escapes. */
function unquote(text: string): string {
  if (!/^".*"$/.test(text)) return text
  if (text.length > MAX_QUOTED_CHARACTERS) return text.slice(1, -1)
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [piece] of text.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/g)) {
    const octal = /^\\([0-7]{3})$/.exec(piece)?.[1]
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else for (const byte of encoder.encode(unescaped(piece))) bytes.push(byte)
  }
  const name = decodeText(new Uint8Array(bytes))
  if (!name.includes('\uFFFD') || text.includes('\uFFFD')) return name
  throw patchFailed(
    `the name ${text.slice(0, 200)} is not UTF-8`,
    'Files with such names can be changed with a command only.',
  )
}

function unescaped(piece: string): string {
  return piece.startsWith('\\') ? (ESCAPES.get(piece) ?? piece.slice(1)) : piece
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '\\n': '\n', '\\t': '\t', '\\r': '\r' }),
)

function toSection(headers: Headers, hunks: readonly PatchHunk[], at: number): PatchSection {
  const kind = kindOf(headers)
  const names = namesOf(headers, kind, at)
  rejectWithoutHunks(kind, hunks, names.to ?? names.from ?? '', at)
  const { newMode } = headers
  const notes =
    newMode === undefined || newMode.endsWith('644') ? [] : [`its mode ${newMode} was not set`]
  return { at, kind, ...names, hunks, removesAll: false, notes }
}

function kindOf({ from, to, moves, newMode, removes }: Headers): SectionKind {
  if (moves !== undefined) return moves
  if (from === NOWHERE || (newMode !== undefined && from === undefined)) return 'create'
  return to === NOWHERE || (removes === true && to === undefined) ? 'remove' : 'change'
}

type Names = Pick<PatchSection, 'from' | 'to' | 'hasPrefixes'>

function namesOf(headers: Headers, kind: SectionKind, at: number): Names {
  if (kind === 'move' || kind === 'copy') return namesOfMoved(headers, kind, at)
  const { gitNames = ['', ''] } = headers
  const { from = gitNames[0], to = gitNames[1] } = headers
  if ([from, to].includes('')) throw patchFailed(`line ${at} of the patch names no file`)
  rejectContradiction(headers, kind, at)
  const hasPrefixes = prefixesOf(from, to, headers.gitNames)
  const style = hasPrefixes === undefined ? {} : { hasPrefixes }
  if (kind === 'create') return { to, ...style }
  return kind === 'remove' ? { from, ...style } : { from, to, ...style }
}

function namesOfMoved({ movedFrom, movedTo }: Headers, kind: SectionKind, at: number): Names {
  if (movedFrom !== undefined && movedTo !== undefined) {
    return { from: movedFrom, to: movedTo, hasPrefixes: false }
  }
  const what = kind === 'move' ? 'rename' : 'copy'
  throw patchFailed(
    `the file at line ${at} of the patch has only one of the lines "${what} from" and "${what} to"`,
  )
}

function rejectContradiction(headers: Headers, kind: SectionKind, at: number): void {
  const { gitNames, from, to, newMode, removes } = headers
  const odd = [
    from === NOWHERE && to === NOWHERE,
    newMode !== undefined && kind !== 'create',
    removes === true && kind !== 'remove',
    isOther(from, gitNames?.[0]),
    isOther(to, gitNames?.[1]),
  ]
  if (!odd.includes(true)) return
  throw patchFailed(
    `the header lines of the file at line ${at} of the patch contradict each other`,
    'For a new file write --- /dev/null and +++ b/name, for a removed one --- a/name and +++ /dev/null; name the same file in all lines.',
  )
}

function isOther(name: string | undefined, gitName: string | undefined): boolean {
  if (name === undefined || gitName === undefined || name === NOWHERE) return false
  return name !== gitName
}

/** Those of `diff --git`, also with `diff.mnemonicPrefix`. */
const PREFIXES = /^[aciow]\/.*\n[bciow]\//

/** Whether `a/` and `b/` are those of git; undefined when only one of them is there. */
function prefixesOf(
  from: string,
  to: string,
  gitNames: readonly [string, string] | undefined,
): boolean | undefined {
  const [old, now] = gitNames ?? [from, to]
  if (PREFIXES.test(`${old}\n${now}`) && old[0] !== now[0]) return true
  const isOneName = [now, NOWHERE].includes(old) || now === NOWHERE
  // With `diff --git` both names are there, and have prefixes or not.
  if (!isOneName || gitNames !== undefined) return false
  return /^[ab]\//.test(old === NOWHERE ? now : old) ? undefined : false
}

function rejectWithoutHunks(
  kind: SectionKind,
  hunks: readonly PatchHunk[],
  file: string,
  at: number,
): void {
  if (hunks.length > 0 || kind !== 'change') return
  throw patchFailed(`the patch has no hunk for ${JSON.stringify(file)} (line ${at} of the patch)`)
}

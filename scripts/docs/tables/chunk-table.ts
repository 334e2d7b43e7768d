// What a run streams, from the source of core.
import { read } from '../../repository.ts'
import { plainComment } from '../source-text.ts'
import { code, table } from '../table.ts'

const FILE = 'packages/core/src/stream/chunks.ts'
const entry =
  /(?:\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\s*)?^ {2}(?<name>\w+): \{(?<body>(?:[^{}]|\{[^{}]*\})*)\}/gm

/** One row a type of chunk. */
export function chunkTable(): string {
  const source = read(FILE)
  const start = source.indexOf('interface ChunkFields')
  if (start === -1) throw new Error(`${FILE} has no interface ChunkFields`)
  const body = source.slice(start, source.indexOf('\n}', start))
  const rows = [...body.matchAll(entry)].map(({ groups = {} }) => [
    code(groups.name ?? ''),
    fieldsOf(groups.body ?? ''),
    plainComment(groups.comment ?? ''),
  ])
  return table(['type', 'fields', 'says'], rows)
}

/** Names of the fields; those of a nested object are its own. */
function fieldsOf(body: string): string {
  const flat = body.replaceAll(/\{[^{}]*\}/g, '')
  return [...flat.matchAll(/readonly (\w+\??):/g)].map(([, name = '']) => code(name)).join(' ')
}

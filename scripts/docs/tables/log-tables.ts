// What the packages write to their logger, from their source.
import { logMessages } from '../../../packages/core/src/provider.ts'
import { find, read } from '../../repository.ts'
import { keyCommentsOf } from '../source-text.ts'
import { code, table } from '../table.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

const LEVELS: readonly Level[] = ['error', 'warn', 'info', 'debug']

/** The lines with a fixed text that operators may alert on. */
export function logMessageTable(): string {
  const comments = keyCommentsOf('packages/core/src/logging/log-messages.ts', /(?<key>\w+): '/)
  const rows = Object.entries(logMessages)
    .filter(([key]) => !key.startsWith('rateLimited'))
    .map(([key, text]) => {
      const says = comments.get(key)
      if (says === undefined) throw new Error(`log-messages.ts does not explain ${key}`)
      return { levels: levelsOf(key), text, says }
    })
    .toSorted((a, b) => highest(a.levels) - highest(b.levels))
  return table(
    ['level', 'text', 'means'],
    rows.map(({ levels, text, says }) => [levels.join(', '), code(text), says]),
  )
}

function highest([first = 'debug']: readonly Level[]): number {
  return LEVELS.indexOf(first)
}

/** All other warnings and errors, with the package that writes them. */
export function otherLogTable(): string {
  const pattern = /ogger\.(?<level>error|warn)\((?:[^'`;]|`[^`]*`)*?'(?<text>[a-z][^'\n]+)',?\s*\)/g
  const rows = sources().flatMap((file) =>
    [...read(file).matchAll(pattern)].map(({ groups = {} }) => [
      groups.level ?? '',
      code(groups.text ?? ''),
      code(file.split('/')[1] ?? ''),
    ]),
  )
  const unique = new Map(rows.map((row) => [row.join(' '), row]))
  return table(
    ['level', 'text', 'package'],
    [...unique.values()].toSorted((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1)),
  )
}

/** The levels at which a text is written, the highest first; refusals of a policy are warnings. */
function levelsOf(key: string): Level[] {
  const use = new RegExp(
    String.raw`ogger\s*\.(error|warn|info|debug)(?:RateLimited)?\((?:(?!ogger\s*\.)[^;])*?logMessages\.${key}\b`,
    'g',
  )
  const found = sources().flatMap((file) => [...read(file).matchAll(use)].map(([, level]) => level))
  const levels = LEVELS.filter((level) => found.includes(level))
  return levels.length === 0 ? ['warn'] : levels
}

function sources(): string[] {
  return find('packages/*/src/**/*.ts')
}

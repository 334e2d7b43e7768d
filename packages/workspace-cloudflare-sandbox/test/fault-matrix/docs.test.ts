// The page of the documentation says what the tests hold the provider to.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type End, ends, renderMatrix } from './cells.ts'

const page = readFileSync(
  join(import.meta.dirname, '../../../../docs/providers/cloudflare-sandbox.md'),
  'utf8',
)

/** Cells of the table that follows a heading, without the line below its head. */
function tableAfter(heading: string): string[][] {
  const [, after = ''] = page.split(`\n${heading}\n`)
  const lines = after.split('\n')
  const start = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  const cells = lines.slice(start, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
  return cells.filter((_, index) => index !== 1)
}

test('the table of faults is the one of the tests', () => {
  expect(tableAfter('### Under each fault')).toEqual(renderMatrix())
})

/** `WorkspaceEvictedError` `evicted`, admitted `no`. */
const inWords = (end: string): string => {
  const [name = '', code = '', ...more] = end.split(' ')
  const admitted = code === 'evicted' ? `, admitted \`${more[0]}\`` : ''
  const isLater = name === 'WorkspaceFailedError' && more.includes('transient')
  const transient = isLater ? ', transient' : ''
  return `\`${name}\` \`${code}\`${admitted}${transient}`
}

test('each end is in the table of errors, and explained', () => {
  const errors = tableAfter('## Errors').map(([, error]) => error)
  const explained = new Map(
    tableAfter('### Ends').map(([word = '', error = '']) => [word.replaceAll('`', ''), error]),
  )
  for (const [end, told] of Object.entries(ends) as [End, string][]) {
    if (end === 'done') continue
    expect(errors).toContain(inWords(told))
    expect([end, explained.get(end)]).toEqual([end, inWords(told)])
  }
})

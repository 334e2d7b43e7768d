import { expect, test } from 'vitest'
import type { ShellCommand } from '../../../src/modules/shell/contract.ts'
import { exitCodeMeaning } from '../../../src/modules/shell/exit-code.ts'

const meaning = (command: ShellCommand, exitCode: number, timedOut = false): string | undefined => {
  const empty = new Uint8Array()
  return exitCodeMeaning(command, {
    stdout: empty,
    stderr: empty,
    exitCode,
    durationMs: 1,
    timedOut,
  })
}

test.each<[ShellCommand, number, string | undefined]>([
  ['grep x f', 1, 'no line matched'],
  ['/usr/bin/grep x f', 1, 'no line matched'],
  ['LC_ALL=C grep x f', 1, 'no line matched'],
  ['cat f | grep x', 1, 'no line matched'],
  [['grep', 'x; y', 'f'], 1, 'no line matched'],
  ['diff a b', 1, 'the files differ'],
  ['test -f x', 1, 'the condition is false'],
  ['[ -f x ]', 1, 'the condition is false'],
  ['grep x f', 2, undefined],
  ['grep x f && make', 1, undefined],
  ['grep x f; make', 1, undefined],
  ['grep x f || false', 1, undefined],
  ['make', 1, undefined],
  ['constructor', 1, undefined],
  ['./toString x', 1, undefined],
  [['__proto__'], 1, undefined],
  ['ls', 0, undefined],
  ['x', 126, 'found, but it cannot be executed'],
  ['x', 127, 'command not found'],
  ['x', 137, 'killed (SIGKILL), perhaps for lack of memory'],
  ['x', 139, 'crashed with a segmentation fault (SIGSEGV)'],
  ['x', 143, 'terminated (SIGTERM)'],
])('%j with exit code %i', (command, exitCode, expected) => {
  expect(meaning(command, exitCode)).toBe(expected)
})

test('time that was up is told from an exit code that looks like it', () => {
  expect(meaning('timeout 1 x', 124)).toBe('the time was up')
  expect(meaning('x', 124, true)).toContain('until then')
})

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findInterpreters } from '../../src/code/languages.ts'
import { BASH_PROGRAM } from '../../src/code/programs/bash-program.ts'
import { JAVASCRIPT_PROGRAM } from '../../src/code/programs/javascript-program.ts'
import { PYTHON_PROGRAM } from '../../src/code/programs/python-program.ts'
import { useDirectory } from '../snapshots/store/store-fixture.ts'

const directory = useDirectory()
/** A program that is there, and says that it is of this version. */
function program(name: string, version = '3.8'): string {
  const path = join(directory(), name)
  writeFileSync(path, `#!/bin/sh\necho ${version}\n`)
  chmodSync(path, 0o755)
  return path
}
const seen = (path: string): boolean => !path.endsWith('/node') && path.startsWith(directory())
const find = (
  wanted?: readonly string[],
  isSeen = (path: string) => path.startsWith(directory()),
) => findInterpreters(wanted, directory(), isSeen)

it('the languages of a machine are those of its programs, in their order', async () => {
  const [bash, node, python] = ['bash', 'node', 'python3'].map((name) => program(name))
  expect([...(await find())]).toEqual([
    ['python', [python, '-c', PYTHON_PROGRAM]],
    ['javascript', [node, '--no-warnings', '--input-type=commonjs', '-e', JAVASCRIPT_PROGRAM]],
    ['bash', [bash, '--noprofile', '--norc', '-c', BASH_PROGRAM]],
  ])
  expect([...(await find(['bash'])).keys()]).toEqual(['bash'])
  expect([...(await find([])).keys()]).toEqual([])
})

it('a program that commands do not see, or that is too old, is none', async () => {
  for (const name of ['bash', 'node']) program(name)
  program('python3', '3.7')
  expect([...(await find()).keys()]).toEqual(['javascript', 'bash'])
  expect([...(await find(undefined, seen)).keys()]).toEqual(['bash'])
  await expect(find(['python'])).rejects.toMatchObject({
    code: 'capability-missing',
    message: 'code in "python" needs python3 3.8 or later, and the host has 3.7',
    hint: 'An operator must install python3 3.8 or later, or declare other languages.',
  })
  await expect(find(['bash', 'javascript'], seen)).rejects.toMatchObject({
    code: 'capability-missing',
    message: 'code in "javascript" needs the program node, which the host does not have',
  })
})

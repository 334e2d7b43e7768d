import { expect, test } from 'vitest'
import { commandsThatStartOthers } from '../../../src/modules/shell/exec-wrappers.ts'

test('commands that can start others are found, by their name, wherever they are', () => {
  const starters = ['env', 'xargs', 'find', 'awk', 'git', 'sh', '/bin/bash', 'python3.12', 'gcc-13']
  expect(commandsThatStartOthers([...starters, 'ls', 'cat', 'grep', 'wc', 'head', 'curl'])).toEqual(
    starters,
  )
  const more = [
    'node',
    'sudo',
    'nice',
    'timeout',
    'tar',
    'vim',
    'make',
    'npm',
    'perl',
    'ssh',
    'sed',
    'npx',
  ]
  expect(commandsThatStartOthers(more)).toEqual(more)
  expect(commandsThatStartOthers(['ls', 'cat', 'findmnt', 'shuf', 'ls-1'])).toEqual([])
})

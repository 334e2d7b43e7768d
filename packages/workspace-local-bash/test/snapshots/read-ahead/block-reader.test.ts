// The thread that reads for restores keeps its process alive while it is used, and no longer.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const MODULE = join(import.meta.dirname, '../../../src/snapshots/read-ahead/block-reader.ts')
const REQUEST = `{
  hashes: ['0'.repeat(64)], lengths: [1], directory: '/nowhere',
  claims: new SharedArrayBuffer(4), index: 0,
}`

/** Runs a program that has a reader. */
function run(program: string) {
  const source = `const { blockReader } = await import('${MODULE}')
const reader = blockReader()
${program}`
  const words = ['--conditions=@helix-agents/source', '--no-warnings', '--input-type=module']
  const { status, stdout, stderr } = spawnSync(process.execPath, [...words, '-e', source], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

it('ends with the last of its users', () => {
  const program = "reader.use(); reader.use(); reader.leave(); reader.leave(); console.log('left')"
  expect(run(program)).toEqual({ status: 0, stdout: 'left\n', stderr: '' })
})

it('answers those that still use it', () => {
  const program = `reader.use(); reader.use(); reader.leave()
reader.ask(${REQUEST}, (bytes) => { console.log('answer', bytes); reader.leave() })`
  expect(run(program)).toEqual({ status: 0, stdout: 'answer undefined\n', stderr: '' })
})

import { expect, test, vi } from 'vitest'
import { FileSystemError } from '../../../src/errors/file-system-error.ts'
import type { FileStat, FileSystem } from '../../../src/modules/fs/contract.ts'
import type { RunOutput } from '../../../src/modules/shell/tools/calls/run.ts'
import { StubAgent } from '../../tools/stub-context.ts'

const ACTOR = 'tester (s1)'
const result = {
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  exitCode: 0,
  durationMs: 1,
  timedOut: false,
}
const file = (path: string, version: string): FileStat => {
  return { path, version, type: 'file', size: 1, mtime: new Date(0) }
}

function agentWith(stat: FileSystem['stat'] | undefined) {
  const shell = { run: async () => result }
  const fs = stat && ({ stat } as Partial<FileSystem> as FileSystem)
  return new StubAgent({ shell, ...(fs && { fs }) }, { shell: true })
}

async function staleReads(agent: StubAgent): Promise<RunOutput['staleReads']> {
  return (await agent.call<RunOutput>('run', { command: 'x' })).staleReads
}

test('only a file that is not there counts as removed: one that cannot be examined has not changed', async () => {
  const errors: Readonly<Record<string, Error>> = {
    '/gone': new FileSystemError('not-found', '/gone'),
    '/locked': new FileSystemError('permission-denied', '/locked'),
    '/odd': Object.assign(new Error('odd'), { code: 'not-found' }),
  }
  const agent = agentWith(async (path) => {
    throw errors[path] ?? new Error('unexpected')
  })
  for (const path of Object.keys(errors)) agent.access.ledger.recordRead(ACTOR, path, '1')
  expect(await staleReads(agent)).toEqual([{ path: '/gone', isRemoved: true }])
})

test('a file that is as it was read is not named, and a change is named once', async () => {
  let version = '1'
  const agent = agentWith(async (path) => file(path, version))
  agent.access.ledger.recordRead(ACTOR, '/a', '1')
  const named: number[] = []
  for (const next of ['1', '2', '2', '3', '1', '3']) {
    version = next
    named.push((await staleReads(agent)).length)
  }
  expect(named).toEqual([0, 1, 0, 1, 0, 0])
})

test('without files of the agent, and without a file system, nothing is examined', async () => {
  const stat = vi.fn<FileSystem['stat']>(async (path) => file(path, '1'))
  expect(await staleReads(agentWith(stat))).toEqual([])
  expect(stat).not.toHaveBeenCalled()
  const agent = agentWith(undefined)
  agent.access.ledger.recordRead(ACTOR, '/a', '1')
  expect(await staleReads(agent)).toEqual([])
})

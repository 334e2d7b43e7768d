// How much tools of commands and snapshots take, look at and show.
import { expect, test } from 'vitest'
import type { FileStat, FileSystem } from '../../../src/modules/fs/contract.ts'
import type { BackgroundProcess, Shell } from '../../../src/modules/shell/contract.ts'
import type { RunOutput } from '../../../src/modules/shell/tools/calls/run.ts'
import type { Snapshotter } from '../../../src/modules/snapshot/contract.ts'
import { StubAgent } from '../../tools/stub-context.ts'

const ACTOR = 'tester (s1)'
const ran = {
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  exitCode: 0,
  durationMs: 1,
  timedOut: false,
}
const shell: Shell = { run: async () => ran }
const tooLong = { code: 'invalid-input' }

test('a command has at most as many characters as Linux takes', async () => {
  const agent = new StubAgent({ shell }, { shell: true })
  const longest = 'x'.repeat(131_072)
  await expect(agent.call('run', { command: longest })).resolves.toMatchObject({ exitCode: 0 })
  await expect(agent.call('run', { command: `${longest}x` })).rejects.toMatchObject(tooLong)
  await expect(agent.call('run', { command: '' })).rejects.toMatchObject(tooLong)
})

test.each([
  [100, undefined],
  [101, '[… 1 more …]'],
  [250, '[… 150 more …]'],
])('of %i processes the first 100 are shown', async (count, rest) => {
  const list = async (): Promise<BackgroundProcess[]> =>
    Array.from({ length: count }, (_, n) => {
      return { id: `p${n}`, command: 'x', state: 'running', startedAt: new Date(0) }
    })
  const agent = new StubAgent({ shell: { ...shell, list } }, { shell: { background: true } })
  const shown = await agent.ask('process_list', {})
  const lines = typeof shown === 'string' ? shown.split('\n') : []
  expect(lines.slice(0, 100).map((line) => line.split(' ')[0])).toEqual(
    Array.from({ length: 100 }, (_, n) => `p${n}`),
  )
  expect(lines.slice(100)).toEqual(rest === undefined ? [] : [rest])
})

/** Files that each have another version whenever they are looked at. */
function changing() {
  const asked: string[] = []
  let version = 0
  const stat = async (path: string): Promise<FileStat> => {
    asked.push(path)
    version += 1
    return { path, version: `v${version}`, type: 'file', size: 1, mtime: new Date(0) }
  }
  const fs = { stat } as Partial<FileSystem> as FileSystem
  return { asked, agent: new StubAgent({ shell, fs }, { shell: true }) }
}

test('the 50 files that an agent has seen last are looked at after a command', async () => {
  const { asked, agent } = changing()
  for (let n = 0; n < 51; n += 1) agent.access.ledger.recordRead(ACTOR, `/${n}`, 'read')
  const { staleReads } = await agent.call<RunOutput>('run', { command: 'x' })
  const expected = Array.from({ length: 50 }, (_, n) => `/${50 - n}`)
  expect(asked).toEqual(expected)
  expect(staleReads.map(({ path }) => path)).toEqual(expected)
})

const stat = async (path: string): Promise<FileStat> => {
  return { path, version: 'now', type: 'file', size: 1, mtime: new Date(0) }
}

/** Reads so many files, and counts those that a command reports as changed. */
async function reads(agent: StubAgent, from: number, count: number): Promise<number> {
  for (let n = from; n < from + count; n += 1) {
    agent.access.ledger.recordRead(ACTOR, `/${n}`, 'read')
  }
  return (await agent.call<RunOutput>('run', { command: 'x' })).staleReads.length
}

test('a thousand reported changes are remembered', async () => {
  const fs = { stat } as Partial<FileSystem> as FileSystem
  const agent = new StubAgent({ shell, fs }, { shell: true })
  for (let at = 0; at < 1000; at += 50) expect(await reads(agent, at, 50)).toBe(50)
  expect(await reads(agent, 950, 50)).toBe(0)
  // One more: all are forgotten, and those that are looked at are reported again.
  expect(await reads(agent, 1000, 1)).toBe(50)
  expect(await reads(agent, 1000, 1)).toBe(0)
})

test('the ref of a snapshot is as long as providers write it', async () => {
  const ref = { providerId: 'stub', ref: '' }
  const workspace = { providerId: 'stub', schemaVersion: 1, capabilities: {}, ref: {} }
  const snapshot: Snapshotter = { snapshot: async () => ref, restore: async () => workspace }
  const agent = new StubAgent({ snapshot }, { snapshot: true })
  const textOf = (length: number): string =>
    JSON.stringify({ ...ref, ref: 'x'.repeat(length - JSON.stringify(ref).length) })
  await expect(agent.call('restore', { ref: textOf(16_384) })).resolves.toBeDefined()
  await expect(agent.call('restore', { ref: textOf(16_385) })).rejects.toMatchObject(tooLong)
})

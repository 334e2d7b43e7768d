import {
  defineConformance,
  defineWorkspaceConformance,
  type Deviation,
  type ProviderExtra,
  type Runner,
} from '@helix-agents/workspace-conformance'
import { expect, test } from 'vitest'
import { createReferenceHarness } from './reference/provider.ts'

const behaviours = [
  { id: 'even', run: async (n: number) => (n % 2 === 0 ? undefined : Promise.reject(new Error())) },
  { id: 'small', run: async (n: number) => (n < 10 ? undefined : Promise.reject(new Error())) },
  { id: 'signed', needs: ['sign'], slow: true as const, run: async () => {} },
]

interface Registered extends Runner {
  readonly calls: { readonly name: string; readonly run: () => Promise<void>; timeoutMs: number }[]
}

function recordingRunner(): Registered {
  const calls: Registered['calls'] = []
  return {
    calls,
    it: (name, run, timeoutMs) => void calls.push({ name: `it ${name}`, run, timeoutMs }),
    fails: (name, run, timeoutMs) => void calls.push({ name: `fails ${name}`, run, timeoutMs }),
  }
}

function register(deviations: readonly Deviation[], offers: readonly string[] = []): Registered {
  const runner = recordingRunner()
  defineConformance(runner, behaviours, { create: async () => 11, deviations, offers })
  return runner
}

test('a declared deviation is registered as one that must fail, with its reason', () => {
  const names = register([{ behaviour: 'small', reason: 'counts to 11' }]).calls.map(
    (it) => it.name,
  )
  expect(names).toEqual(['it even', 'fails small (deviation: counts to 11)'])
})

test('what is registered runs the behaviour on a fresh subject', async () => {
  const [even, small] = register([]).calls
  await expect(even!.run()).rejects.toThrow(Error)
  await expect(small!.run()).rejects.toThrow(Error)
})

test('a deviation that names no behaviour is an error', () => {
  expect(() => register([{ behaviour: 'smal', reason: 'misspelt' }])).toThrow(/smal$/)
})

test('a deviation declared twice is an error', () => {
  const deviation = { behaviour: 'small', reason: 'counts' }
  expect(() => register([deviation, deviation])).toThrow(/small$/)
})

test('a behaviour runs only where its needs are offered, and slow ones get more time', () => {
  expect(register([]).calls).toHaveLength(2)
  const [even, , signed] = register([], ['sign']).calls
  expect(signed!.timeoutMs).toBeGreaterThan(even!.timeoutMs)
  expect(() => register([{ behaviour: 'signed', reason: 'not offered here' }])).toThrow(/signed$/)
})

test('a subject is disposed of whether its behaviour passed or not', async () => {
  const runner = recordingRunner()
  const disposed: number[] = []
  defineConformance(runner, behaviours, {
    create: async () => 11,
    dispose: async (n) => void disposed.push(n),
  })
  for (const { run } of runner.calls) await run().catch(() => undefined)
  expect(disposed).toEqual([11, 11])
})

function idsFor(capabilities: object, extras: readonly ProviderExtra[] = []): string[] {
  const runner = recordingRunner()
  defineWorkspaceConformance(runner, {
    capabilities,
    extras,
    createProvider: async () => createReferenceHarness(),
  })
  return runner.calls.map((call) => call.name.slice(3))
}

const suites = (ids: string[]): string[] => [...new Set(ids.map((id) => id.split('/')[0]!))]

test('what runs follows from the capabilities', () => {
  expect(suites(idsFor({ fs: true }))).toEqual(['lifecycle', 'refs', 'config', 'isolation', 'fs'])
  expect(suites(idsFor({ shell: true, fs: false }))).toContain('shell')
  expect(suites(idsFor({ shell: true, fs: false }))).not.toContain('fs')
  expect(idsFor({ shell: true })).not.toContain('shell/background/kill-ends-the-tree')
  expect(idsFor({ shell: true }, ['background'])).toContain('shell/background/kill-ends-the-tree')
  expect(idsFor({ shell: true, fs: true })).not.toContain('shell/links/have-a-real-path')
  expect(idsFor({ code: true })).not.toContain('code/context/keeps-variables')
  expect(idsFor({ snapshot: true, fs: true })).not.toContain(
    'snapshot/branch/two-forks-never-share',
  )
})

test('flags that are not those of the provider fail every behaviour', async () => {
  const runner = recordingRunner()
  defineWorkspaceConformance(runner, {
    capabilities: { fs: true },
    createProvider: async () => createReferenceHarness(),
  })
  await expect(runner.calls[0]!.run()).rejects.toThrow(/expected/)
})

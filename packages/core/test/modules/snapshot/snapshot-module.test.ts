import { expect, test, vi } from 'vitest'
import { PolicyError } from '../../../src/errors/policy-error.ts'
import type { Snapshotter } from '../../../src/modules/snapshot/contract.ts'
import { StubAgent } from '../../tools/stub-context.ts'

const ref = { providerId: 'stub', ref: { id: 'snap-1', session: 's1' } }
const workspace = {
  providerId: 'stub',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: { id: 'w2' },
}

function createAgent(config: true | { allowCrossSession: boolean } = true) {
  const snapshot = {
    snapshot: vi.fn<Snapshotter['snapshot']>(async () => ref),
    restore: vi.fn<Snapshotter['restore']>(async () => workspace),
    branch: vi.fn<NonNullable<Snapshotter['branch']>>(async () => workspace),
  }
  return { snapshot, agent: new StubAgent({ snapshot }, { snapshot: config }, { branch: true }) }
}

test('snapshot gives a ref, which restore takes as an object or as the text that was shown', async () => {
  const { snapshot, agent } = createAgent()
  expect(await agent.call('snapshot', {})).toEqual({ ref })
  const shown = await agent.ask('snapshot', {})
  expect(shown).toContain(JSON.stringify(ref))
  await agent.call('restore', { ref })
  await agent.call('restore', { ref: JSON.stringify(ref) })
  expect(snapshot.restore.mock.calls.map(([given]) => given)).toEqual([ref, ref])
})

test('restore switches the session and says so', async () => {
  const { agent } = createAgent()
  expect(await agent.ask('restore', { ref })).toContain('this session now uses')
  expect(agent.access.switches).toEqual([workspace])
})

test('branch leaves the session where it is', async () => {
  const { agent } = createAgent()
  expect(await agent.call('branch', { ref })).toEqual({ workspace })
  expect(agent.access.switches).toEqual([])
})

test('a live workspace without branch says so', async () => {
  const { snapshot } = createAgent()
  const { snapshot: take, restore } = snapshot
  const agent = new StubAgent(
    { snapshot: { snapshot: take, restore } },
    { snapshot: true },
    { branch: true },
  )
  await expect(agent.call('branch', { ref })).rejects.toMatchObject({ code: 'capability-missing' })
})

test.each([
  [true, false],
  [{ allowCrossSession: true }, true],
] as const)(
  'with %j, snapshots of other sessions are accepted: %s, whatever the model asks for',
  async (config, allowCrossSession) => {
    const { snapshot, agent } = createAgent(config)
    await agent.call('snapshot', {})
    await agent.call('restore', { ref })
    await agent.call('branch', { ref })
    for (const tool of Object.values(snapshot)) {
      expect(tool.mock.lastCall!.at(-1)).toEqual({ allowCrossSession, signal: agent.abort.signal })
    }
    await expect(agent.call('restore', { ref, allowCrossSession: true })).rejects.toMatchObject({
      code: 'invalid-input',
    })
  },
)

test('a snapshot of another session is refused, audited, and nothing is switched', async () => {
  const { snapshot, agent } = createAgent()
  snapshot.restore.mockRejectedValueOnce(
    new PolicyError('cross-session', 'another session took it'),
  )
  await expect(agent.call('restore', { ref })).rejects.toMatchObject({ code: 'cross-session' })
  expect(agent.access.audits).toMatchObject([{ code: 'cross-session' }])
  expect(agent.access.switches).toEqual([])
})

test.each([
  ['not json'],
  [''],
  ['null'],
  ['5'],
  ['[]'],
  ['{}'],
  ['{"providerId":"stub"}'],
  ['{"providerId":5,"ref":1}'],
  ['{"providerId":"","ref":1}'],
  ['{"providerId":"stub","ref":1,"extra":1}'],
  ['{"providerId":"stub","ref":1,"__proto__":{"x":1}}'],
  [`{"providerId":"stub","ref":"${'x'.repeat(20_000)}"}`],
])('%j is not a ref', async (text) => {
  const { snapshot, agent } = createAgent()
  await expect(agent.call('restore', { ref: text })).rejects.toMatchObject({
    code: 'invalid-input',
  })
  expect(snapshot.restore).not.toHaveBeenCalled()
  expect(snapshot.branch).not.toHaveBeenCalled()
})

test('an object is read as strictly as a text', async () => {
  const { snapshot, agent } = createAgent()
  const withPrototype: unknown = JSON.parse('{"providerId":"stub","ref":1,"__proto__":{"x":1}}')
  for (const given of [
    null,
    5,
    [],
    {},
    { providerId: 'stub' },
    { ...ref, extra: 1 },
    withPrototype,
  ]) {
    await expect(agent.call('branch', { ref: given })).rejects.toMatchObject({
      code: 'invalid-input',
    })
  }
  expect(snapshot.branch).not.toHaveBeenCalled()
})

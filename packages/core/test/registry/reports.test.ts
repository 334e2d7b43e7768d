// What a registry writes into spans, logs and metrics, and what it tells the model.
import { WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import type { Span, Tracer } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { noticeOf } from '../../src/registry/entry/notice.ts'
import { codeOf, declare, idempotent, once, ref, setup } from './harness.ts'
import { WorkspaceRegistry } from '@helix-agents/core/runtime'

/** A tracer that keeps what is written. */
class RecordingTracer implements Tracer {
  readonly spans: Record<string, unknown>[] = []

  startActiveSpan<T>(name: string, options: object, work: (span: Span) => T): T {
    const record: Record<string, unknown> = { name, ...options }
    this.spans.push(record)
    const attributes: Record<string, unknown> = { ...(record['attributes'] as object) }
    record['attributes'] = attributes
    return work({
      setAttribute: (key, value) => (attributes[key] = value),
      setAttributes: (all) => Object.assign(attributes, all),
      setStatus: (status) => (record['status'] = status),
      recordException: (exception) => void (record['exception'] = exception),
      end: () => void (record['isEnded'] = true),
    })
  }
}

const labels = { workspace: 'box', providerId: 'fake' }
const names = { 'helix.workspace.name': 'box', 'helix.workspace.provider': 'fake' }
const span = (what: string, attributes: object, more: object = {}) => ({
  name: `helix.workspace.${what}`,
  kind: 0,
  attributes: { ...names, ...attributes },
  isEnded: true,
  ...more,
})

test('an open and a close have a span each', async () => {
  const tracer = new RecordingTracer()
  const { registry } = setup({ deps: { tracer } })
  await registry.acquire('box')
  await registry.close({ mode: 'end' })
  expect(tracer.spans).toEqual([
    span('open', { 'helix.workspace.outcome': 'created', 'helix.workspace.retries': 0 }),
    span('close', { 'helix.workspace.close.mode': 'end' }),
  ])
})

test('a resolve and a switch are resolves, with the retries they took', async () => {
  const tracer = new RecordingTracer()
  const { registry, provider, clock, metrics } = setup({
    refs: { box: ref('b9') },
    stored: ['b9', 'b7'],
    deps: { tracer },
  })
  let failures = 2
  provider.onResolve = () => {
    if (failures-- > 0)
      throw new WorkspaceFailedError('provider-failed', 'busy', { transient: true })
  }
  const opening = registry.acquire('box')
  await clock.advance(60_000)
  await opening
  await registry.switchTo('box', ref('b7'))
  expect(tracer.spans).toEqual([
    span('resolve', { 'helix.workspace.outcome': 'reattached', 'helix.workspace.retries': 2 }),
    span('resolve', { 'helix.workspace.outcome': 'reattached', 'helix.workspace.retries': 0 }),
  ])
  expect(metrics.calls('incTransientRetry')).toEqual([[labels], [labels]])
})

test('an open that fails says why, and one that the end stops does not fail', async () => {
  const tracer = new RecordingTracer()
  const { registry, provider, logger, metrics } = setup({ deps: { tracer } })
  const error = new WorkspaceFailedError('provider-failed', 'no room')
  provider.onOpen = () => Promise.reject(error)
  await codeOf(registry.acquire('box'))
  const exception = { name: 'WorkspaceFailedError', code: 'provider-failed' }
  expect(tracer.spans[0]).toEqual(
    span(
      'open',
      { 'error.type': 'provider-failed', 'helix.workspace.retries': 0 },
      { exception, status: { code: 2 } },
    ),
  )
  expect(logger.with(logMessages.openFailed)).toEqual([
    {
      level: 'error',
      message: logMessages.openFailed,
      fields: { ...labels, sessionId: 's1', code: 'provider-failed', err: error },
    },
  ])
  expect(metrics.calls('incOpenFailure')).toEqual([[labels, 'provider-failed']])
  registry.reset('box')
  provider.onOpen = (signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const opening = codeOf(registry.acquire('box'))
  await registry.close({ mode: 'detach' })
  expect(await opening).toBe('closed')
  expect(tracer.spans[1]).toMatchObject({ attributes: { 'helix.aborted': true } })
  expect(tracer.spans[1]).not.toHaveProperty('status')
})

test('a close that fails marks its span, and is logged with its mode', async () => {
  const tracer = new RecordingTracer()
  const { registry, provider, logger, owed } = setup({ deps: { tracer } })
  await registry.acquire('box')
  const err = new Error('disk')
  provider.onClose = () => Promise.reject(err)
  expect(await registry.close({ mode: 'end' })).toEqual({ owed: ['box'] })
  expect(tracer.spans[1]).toMatchObject({
    attributes: { 'error.type': 'internal' },
    exception: { name: 'Error', code: 'internal' },
  })
  expect(logger.with(logMessages.closeFailed)[0]?.fields).toEqual({
    ...labels,
    sessionId: 's1',
    mode: 'end',
    err,
  })
  expect(owed).toEqual([
    {
      ...labels,
      session: { sessionId: 's1', agentType: 'tester' },
      ref: ref('b1'),
      reason: 'failed',
    },
  ])
})

const spansOf = async (mode: 'end' | 'detach', refs?: Readonly<Record<string, unknown>>) => {
  const tracer = new RecordingTracer()
  const { registry } = setup({ deps: { tracer }, stored: ['b9'], ...(refs && { refs }) })
  await registry.close({ mode })
  return tracer.spans.map(({ name }) => name)
}

test('what nothing opened has no span, unless it leaves something', async () => {
  expect(await spansOf('end')).toEqual([])
  expect(await spansOf('detach', { box: ref('b9') })).toEqual([])
  expect(await spansOf('end', { box: ref('b9') })).toEqual(['helix.workspace.close'])
})

test('evictions and their retries are counted, and a backend that is lost is logged', async () => {
  const { registry, provider, metrics, logger } = setup()
  await registry.acquire('box')
  let calls = 0
  provider.stored.clear()
  const evictedOnce = async (): Promise<string> => {
    calls += 1
    if (calls === 1) throw new WorkspaceEvictedError('gone', { code: 'lost' })
    return 'done'
  }
  expect(await registry.use('box', evictedOnce, idempotent)).toBe('done')
  expect(metrics.calls('incEviction')).toEqual([[labels]])
  expect(metrics.calls('incEvictionRetry')).toEqual([[labels]])
  expect(metrics.calls('incOpen').map(([, outcome]) => outcome)).toEqual(['created', 'cold'])
  expect(logger.with(logMessages.workspaceLost)).toMatchObject([
    { level: 'warn', fields: { ...labels, sessionId: 's1', err: { code: 'lost' } } },
  ])
  expect(registry.takeNotice('box')).toBe(
    'Workspace "box" was started afresh: its earlier files and processes are gone.',
  )
  expect(registry.takeNotice('box')).toBeUndefined()
})

test('the time of an open is measured, and closes are counted by mode', async () => {
  const { registry, provider, clock, metrics } = setup()
  provider.onOpen = () => clock.advance(7)
  await registry.acquire('box')
  await registry.close({ mode: 'detach' })
  expect(metrics.calls('observeOpenMs')).toEqual([[labels, 7]])
  expect(metrics.calls('incClose')).toEqual([[labels, 'detach']])
})

test('a workspace has the name of its key', () => {
  const registry = new WorkspaceRegistry(
    { key: declare('other') },
    {
      providers: new Map(),
      session: { sessionId: 's', agentType: 'a' },
      persistRef: async () => {},
    },
  )
  expect(registry.describe()[0]?.name).toBe('key')
})

test('a ref that was moved names the provider that has it', async () => {
  const moved = { provider: { kind: 'fake' }, notice: 'It was moved.' }
  const stored = { ...ref('b9'), moved }
  const { registry, events } = setup({
    declaration: { provider: { kind: 'other' } },
    refs: { box: stored },
    stored: ['b9'],
  })
  expect(registry.providerId('box')).toBe('fake')
  await registry.use('box', async () => {}, once)
  expect(registry.takeNotice('box')).toBe('It was moved.')
  expect(events).toEqual(['resolve b9', 'persist b9'])
  const broken = setup({ refs: { box: { ...ref('b9'), moved: 1 } } })
  expect(broken.stateOf()).toMatchObject({ state: 'failed', providerId: 'fake' })
})

test.each([
  [{ outcome: 'created' }, false, undefined],
  [{ outcome: 'created', detail: 'x' }, true, undefined],
  [{ outcome: 'reattached' }, false, undefined],
  [{ outcome: 'reattached', detail: 'x' }, false, 'Workspace "box" was opened again. x'],
  [
    { outcome: 'restored', detail: 'x' },
    false,
    'Workspace "box" was restored: changes since then are gone. x',
  ],
  [{ outcome: 'restored' }, true, 'Workspace "box" was restored: changes since then are gone.'],
  [
    { outcome: 'cold', detail: 'x' },
    false,
    'Workspace "box" was started afresh: its earlier files and processes are gone. x',
  ],
  [
    { outcome: 'cold' },
    true,
    'Workspace "box" is a new one of this branch: files and processes of earlier messages are not in it. They are with the session that this one was branched from.',
  ],
] as const)('the notice of %j, in a branch: %s', (receipt, isOfBranch, notice) => {
  expect(noticeOf('box', receipt, isOfBranch)).toBe(notice)
})

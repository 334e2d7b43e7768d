// What providers are asked for outside of a run: names of backends, their end, and the end of snapshots.
import { WorkspaceEvictedError } from '@helix-agents/core'
import { logMessages, type WorkspaceProvider, type WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import {
  canonicalJson,
  historyOf,
  identityOf,
  releaseBackend,
  removeSnapshot,
  resolveOptions,
} from '../../../src/history/provider-history.ts'
import type { RunServices } from '../../../src/ports.ts'

const err = new Error('busy')
const ref: WorkspaceRef = {
  providerId: 'box',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: { id: 1, at: { b: 2, a: [3, { d: 4, c: 5 }] } },
}
const declaration = {
  name: 'files',
  provider: { kind: 'box', size: 3 },
  capabilities: { fs: true },
  onLost: 'reopen',
} as never
const session = { sessionId: 's', agentType: 'a', customState: 'secret' }
const owner = { session, declaration }

function servicesWith(provider: object = {}, providerId = 'box') {
  const [logger, clock] = [new RecordingLogger(), new ManualClock()]
  const providers = new Map([[providerId, { providerId, ...provider } as WorkspaceProvider]])
  return { providers, logger, clock } as unknown as RunServices & { logger: RecordingLogger }
}

const snapshot = { providerId: 'box', ref: 'x' }

test('a snapshot is gone when its provider says so; else that is logged', async () => {
  const removed: unknown[] = []
  const remove = async (one: unknown) => void removed.push(one)
  expect(await removeSnapshot(servicesWith({ history: { remove } }), snapshot)).toBe(true)
  expect(removed).toEqual([snapshot])
  for (const none of [servicesWith(), servicesWith({ history: { remove } }, 'other')]) {
    expect(await removeSnapshot(none, snapshot)).toBe(false)
    expect(none.logger.lines).toEqual([])
  }
  const busy = servicesWith({ history: { remove: () => Promise.reject(err) } })
  expect(await removeSnapshot(busy, snapshot)).toBe(false)
  const fields = { err, providerId: 'box' }
  expect(busy.logger.lines).toEqual([
    { level: 'warn', message: logMessages.historyNotReleased, fields },
  ])
})

test('a history is that of the provider with the id', () => {
  const history = {}
  expect(historyOf(servicesWith({ history }), 'box')).toBe(history)
  expect(historyOf(servicesWith({ history }), 'other')).toBeUndefined()
})

test('refs of one backend have one name, in whatever order their keys are', () => {
  const other = { ...ref, ref: { at: { a: [3, { c: 5, d: 4 }], b: 2 }, id: 1 } }
  const services = servicesWith()
  expect(identityOf(services, ref)).toBe(
    '["box","{\\"at\\":{\\"a\\":[3,{\\"c\\":5,\\"d\\":4}],\\"b\\":2},\\"id\\":1}"]',
  )
  expect(identityOf(services, other)).toBe(identityOf(services, ref))
  expect(identityOf(services, { ...ref, providerId: 'other' })).not.toBe(identityOf(services, ref))
  const named = servicesWith({ identify: ({ ref: own }: { ref: { id: number } }) => `n${own.id}` })
  expect(identityOf(named, ref)).toBe('["box","n1"]')
  expect(identityOf(servicesWith({ identify: () => undefined }), ref)).toBe(
    identityOf(services, ref),
  )
  expect(canonicalJson([null, 1, 'x', { b: null, a: undefined }])).toBe('[null,1,"x",{"b":null}]')
})

test('a provider gets of a session what it needs and no more, and the name that it was made under', () => {
  const services = servicesWith()
  const { signal, ...options } = resolveOptions(services, owner)
  expect(options).toEqual({
    workspace: 'files',
    session: { sessionId: 's', agentType: 'a' },
    config: { kind: 'box', size: 3 },
    capabilities: { fs: true },
    logger: services.logger,
    clock: services.clock,
  })
  expect(options).not.toHaveProperty('resolvedAs')
  expect(signal.aborted).toBe(false)
  expect(resolveOptions(services, { ...owner, workspace: 'files-1' })).toMatchObject({
    workspace: 'files-1',
    resolvedAs: 'files',
  })
})

test('a backend is ended by its provider, or by opening and closing it', async () => {
  const events: unknown[] = []
  const release = async (one: unknown, { workspace }: { workspace: string }) =>
    void events.push(['release', one === ref, workspace])
  const close = async () => {
    await Promise.resolve()
    events.push('close')
  }
  const resolve = async (one: unknown, { workspace }: { workspace: string }) => {
    events.push(['resolve', one === ref, workspace])
    return { ws: { close } }
  }
  expect(await releaseBackend(servicesWith({ release, resolve }), ref, owner)).toBe(true)
  expect(await releaseBackend(servicesWith({ resolve }), ref, owner)).toBe(true)
  expect(events).toEqual([['release', true, 'files'], ['resolve', true, 'files'], 'close'])
})

test('one that is lost is gone; one that was only moved away or cannot be ended now is not', async () => {
  const lost = new WorkspaceEvictedError('gone', { code: 'lost' })
  const unknown = new WorkspaceEvictedError('gone?', { code: 'outcome-unknown' })
  const fields = { workspace: 'files', providerId: 'box', sessionId: 's', agentType: 'a' }
  const message = logMessages.historyNotReleased
  for (const [error, isGone] of [
    [lost, true],
    [unknown, false],
    [err, false],
  ] as const) {
    const failing = servicesWith({ resolve: () => Promise.reject(error) })
    expect(await releaseBackend(failing, ref, owner)).toBe(isGone)
    const lines = [{ level: 'warn', message, fields: { ...fields, err: error } }]
    expect(failing.logger.lines).toEqual(isGone ? [] : lines)
  }
  // What a provider says itself of its release counts.
  const releasing = servicesWith({ release: () => Promise.reject(lost) })
  expect(await releaseBackend(releasing, ref, owner)).toBe(false)
  const none = servicesWith({}, 'other')
  expect(await releaseBackend(none, ref, owner)).toBe(false)
  expect(none.logger.lines).toEqual([{ level: 'warn', message, fields }])
})

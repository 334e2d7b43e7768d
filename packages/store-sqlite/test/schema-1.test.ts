// A database of the first release, opened by this one: every field of it is still read.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionStateStore } from '@helix-agents/core'
import type { SqliteStores } from '@helix-agents/store-sqlite'
import { expect, test } from 'vitest'
import {
  chunks,
  conversation,
  hostileIds,
  labelled,
  ledger,
  NOW,
  ref,
} from './fixtures/schema-1-content.ts'
import { opened, step, textsOf } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function frozen(): Promise<SqliteStores> {
  const path = join(temporaryDirectory(), 'copy.db')
  copyFileSync(join(import.meta.dirname, 'fixtures', 'schema-1.db'), path)
  return opened(path)
}

async function frozenStore(): Promise<SessionStateStore> {
  return (await frozen()).stateStore
}

test('a session without a run, with its labels', async () => {
  const store = await frozenStore()
  const { now: _, ...rest } = labelled
  expect(await store.loadSession('idle')).toEqual({
    ...rest,
    status: 'idle',
    version: 1,
    stepCount: 0,
    messageCount: 0,
    fileLedgers: {},
    createdAt: NOW,
    updatedAt: NOW,
  })
})

test('a session that has ended, with its messages and runs', async () => {
  const store = await frozenStore()
  const head = await store.loadSession('ended')
  expect(head).toMatchObject({
    status: 'completed',
    output: { ok: [true] },
    owed: ['box'],
    customState: undefined,
    runId: 'run-1',
    tags: [],
    version: 8,
    stepCount: 1,
    messageCount: 4,
    updatedAt: NOW + 30,
  })
  expect(head?.error).toBeUndefined()
  const page = await store.loadMessages('ended')
  expect(page).toEqual({ messages: conversation, total: 4, hasMore: false })
  expect(Object.keys(toolArguments(page.messages[1]))).toContain('__proto__')
  expect(await store.listRuns('ended')).toEqual([
    {
      runId: 'run-0',
      sessionId: 'ended',
      status: 'failed',
      turn: 1,
      stepCount: 0,
      startedAt: NOW + 10,
      endedAt: NOW + 11,
    },
    {
      runId: 'run-1',
      sessionId: 'ended',
      status: 'completed',
      turn: 2,
      stepCount: 1,
      startedAt: NOW + 20,
      endedAt: NOW + 30,
    },
  ])
})

test('a paused session, its checkpoints, and going back to one', async () => {
  const store = await frozenStore()
  expect(await store.loadSession('paused')).toMatchObject({
    status: 'interrupted',
    customState: { n: 3 },
    workspaceRefs: { box: ref },
    fileLedgers: { box: ledger },
  })
  const { items } = await store.listCheckpoints('paused')
  expect(items).toEqual([
    checkpointOf(3, { n: 3 }, { box: ref }),
    checkpointOf(2, { n: 1 }, { box: ref }),
    checkpointOf(1, { n: 1 }, {}),
  ])
  expect(await store.getCheckpoint('paused', 'cp-2')).toEqual(items[1])
  const restored = await store.restoreCheckpoint('paused', 'cp-1', NOW + 100)
  expect(restored).toMatchObject({ customState: { n: 1 }, workspaceRefs: { box: ref } })
  await store.beginRun({ sessionId: 'paused', runId: 'run-2', leaseMs: 1, now: NOW + 200 })
  await step(store, { sessionId: 'paused', runId: 'run-2', now: NOW + 201 }, 'goes on')
  expect(await textsOf(store, 'paused')).toEqual(['message 1', 'goes on'])
})

test('a session that was killed within a step', async () => {
  const store = await frozenStore()
  const head = await store.loadSession('crashed')
  expect(head).toMatchObject({ status: 'running', customState: 'y', messageCount: 1, stepCount: 0 })
  const journal = await store.loadJournal('crashed')
  expect(journal.map((entry) => entry.toolCallId)).toEqual(['c1', 'c2', 'c\u0000'])
  expect(journal[0]).toEqual({
    toolCallId: 'c1',
    toolName: 'write',
    arguments: { path: '/0' },
    startedAt: NOW + 11,
    result: { message: conversation[2], finish: { output: undefined }, endedAt: NOW + 12 },
  })
  expect(journal[0]?.result && 'finish' in journal[0].result).toBe(true)
  expect(journal[1]?.result).toBeUndefined()
  const start = { sessionId: 'crashed', runId: 'run-2', leaseMs: 1 }
  const early = store.beginRun({ ...start, now: NOW + 30_009 })
  await expect(early).rejects.toMatchObject({ code: 'already-running' })
  await store.beginRun({ ...start, now: NOW + 30_010 })
})

test('a session that was killed before its run could end', async () => {
  const store = await frozenStore()
  expect((await store.loadSession('about to end'))?.outcome).toEqual({
    status: 'completed',
    output: 'the end',
  })
})

test('sessions with hostile ids, listed newest first', async () => {
  const store = await frozenStore()
  const page = await store.listSessions({ agentType: 'hostile' })
  expect(page.items.map((head) => head.sessionId)).toEqual(hostileIds.toReversed())
  for (const sessionId of hostileIds) {
    expect((await store.loadSession(sessionId))?.customState).toBeNull()
  }
})

test('a stream and its chunks', async () => {
  const { streamManager } = await frozen()
  const read: unknown[] = []
  for await (const chunk of (await streamManager.read('ended')) ?? []) read.push(chunk)
  expect(read).toEqual(chunks.map((chunk, index) => ({ ...chunk, sequence: index + 1 })))
})

function checkpointOf(n: number, customState: unknown, workspaceRefs: unknown): unknown {
  return {
    id: `cp-${n}`,
    sessionId: 'paused',
    stepCount: n,
    messageCount: n,
    customState,
    workspaceRefs,
    status: 'running',
    createdAt: NOW + 10 + n,
  }
}

function toolArguments(message: unknown): object {
  return (message as { toolCalls: { arguments: object }[] }).toolCalls[0]!.arguments
}

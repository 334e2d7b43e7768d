// Records of what is about to be made, of imports, and the blocks of files that are read in place.
import { defineAgent, StateStoreError } from '@helix-agents/core'
import {
  logMessages,
  SNAPSHOT_BLOCK_BYTES,
  takeSnapshot,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import type { SessionState } from '@helix-agents/core/runtime'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { FileBlocks } from '../../../src/history/file-blocks.ts'
import {
  createImportRecord,
  importIdOf,
  removeImportRecord,
} from '../../../src/history/import/import-record.ts'
import { Making, reportWaiting } from '../../../src/history/making.ts'

const ref = { providerId: 'box', ref: 'r' } as unknown as WorkspaceRef
const err = new Error('broken')
const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

const recorded = async (branchId?: string) => {
  const events: unknown[] = []
  const stateStore = {
    recordReleased: async (...given: unknown[]) => (events.push(given), events.length),
  } as unknown as InMemoryStateStore
  const clock = new ManualClock(7)
  const of = { sessionId: 's', ...(branchId !== undefined && { branchId }) }
  const making = new Making({ stateStore, clock }, of)
  expect(making.ids).toEqual([])
  await making.of('files')(ref)
  await making.of('more')(ref)
  return { making, events }
}

describe('what is about to be made', () => {
  test('is recorded with its session, each under an id', async () => {
    const { making, events } = await recorded()
    expect(events).toEqual([
      ['s', { workspace: 'files', ref }, 7],
      ['s', { workspace: 'more', ref }, 7],
    ])
    expect(making.ids).toEqual([1, 2])
  })

  test('or as that of a branch', async () => {
    const { events } = await recorded('b')
    expect(events[0]).toEqual(['s', { branchId: 'b', made: { workspace: 'files', ref } }, 7])
  })

  test('may be left', async () => {
    const { making } = await recorded()
    expect(making.isLeft).toBe(false)
    making.markLeft()
    expect(making.isLeft).toBe(true)
  })
})

describe('a backend that waits for its session', () => {
  const receipt = { outcome: 'created' } as const
  const opened = { ws: { id: 'w' }, ref, receipt } as never
  const of = { workspace: 'files', session: { sessionId: 's', agentType: 'a', more: 1 } }
  const session = { sessionId: 's', agentType: 'a' }
  const event = { workspace: 'files', session, providerId: 'box', workspaceId: 'w', ref }

  test('was opened and let go, as a ledger is told', () => {
    const events: unknown[] = []
    const lifecycle = {
      onOpen: (one: unknown) => void events.push(one),
      onClose: (one: unknown) => void events.push(one),
    }
    const logger = new RecordingLogger()
    reportWaiting({ lifecycle, logger }, opened, of)
    expect(events).toEqual([
      { ...event, receipt },
      { ...event, mode: 'detach' },
    ])
    reportWaiting({ lifecycle: undefined, logger }, opened, of)
    reportWaiting({ lifecycle: {}, logger }, opened, of)
    expect(logger.lines).toEqual([])
  })

  test('a ledger that is broken is logged', () => {
    const logger = new RecordingLogger()
    const onOpen = () => {
      throw err
    }
    reportWaiting({ lifecycle: { onOpen }, logger }, opened, of)
    const message = logMessages.lifecycleListenerFailed
    expect(logger.lines).toEqual([{ level: 'error', message, fields: { err } }])
  })
})

const worldOf = () => ({ stateStore: new InMemoryStateStore(), clock: new ManualClock(1000) })

const stored = async ({ stateStore }: ReturnType<typeof worldOf>) =>
  (await stateStore.loadSession('s/import'))!

describe('the record of imports of a session', () => {
  test('is a session of its own, which all attempts share', async () => {
    const world = worldOf()
    expect(importIdOf('s')).toBe('s/import')
    await createImportRecord(world, agent, 's')
    expect(await stored(world)).toMatchObject({
      parentSessionId: 's',
      agentType: 'a',
      createdAt: 1000,
    })
    await createImportRecord(world, agent, 's')
    expect((await world.stateStore.listSessions()).items).toHaveLength(1)
  })

  test('is none of another kind, and other failures are no record', async () => {
    const world = worldOf()
    const { stateStore } = world
    const session = { agentType: 'a', customState: undefined, now: 0 }
    await stateStore.createSession({ ...session, sessionId: 's/import' })
    await expect(createImportRecord(world, agent, 's')).rejects.toMatchObject({ code: 'conflict' })
    await stateStore.createSession({ ...session, sessionId: 't/import', parentSessionId: 'x' })
    await expect(createImportRecord(world, agent, 't')).rejects.toMatchObject({ code: 'conflict' })
    stateStore.createSession = () => Promise.reject(err)
    await expect(createImportRecord(world, agent, 'u')).rejects.toBe(err)
    const away = new StateStoreError('unavailable', 'u', 'x')
    stateStore.createSession = () => Promise.reject(away)
    await expect(createImportRecord(world, agent, 'u')).rejects.toBe(away)
    const gone = new StateStoreError('conflict', 'u', 'x')
    stateStore.createSession = () => Promise.reject(gone)
    await expect(createImportRecord(world, agent, 'u')).rejects.toBe(gone)
  })

  test('is removed once it is old enough and none has left anything', async () => {
    const world = worldOf()
    const { stateStore, clock } = world
    await createImportRecord(world, agent, 's')
    await clock.advance(99)
    expect(await removeImportRecord(world, await stored(world), 100)).toBe(false)
    await clock.advance(1)
    const id = await stateStore.recordReleased('s/import', { branchId: 's' }, 0)
    expect(await removeImportRecord(world, await stored(world), 100)).toBe(false)
    await stateStore.forgetReleased('s/import', [id])
    expect(await removeImportRecord(world, await stored(world), 100)).toBe(true)
    expect(await stateStore.loadSession('s/import')).toBeNull()
  })

  test('any other session stays', async () => {
    const world = worldOf()
    const base = { createdAt: 0, sessionId: 's/import' } as SessionState
    for (const session of [base, { ...base, parentSessionId: 'x' }]) {
      expect(await removeImportRecord(world, session, 0)).toBe(false)
    }
  })
})

describe('blocks of files that are read in place', () => {
  const content = 'x'.repeat(SNAPSHOT_BLOCK_BYTES) + 'the end'
  const prepared = async () => {
    const fs = new InMemoryFileSystem()
    await fs.mkdir('/d')
    await fs.writeFile('/d/a', content)
    const blocks = new FileBlocks(fs)
    const { manifest } = await takeSnapshot(fs, blocks, {
      scope: 's',
      session: { sessionId: 's', agentType: 'a' },
      workspace: 'box',
      workspaceId: 'box',
      providerId: 'box',
    })
    const file = manifest.entries.find(({ path }) => path === '/d/a')
    return { blocks, hashes: file?.type === 'file' ? file.blocks : [] }
  }

  test('are those of the manifest, wherever in a file they are', async () => {
    const { blocks, hashes } = await prepared()
    expect(hashes).toHaveLength(2)
    const found = await blocks.getBlocks('s', [...hashes, 'unknown'])
    expect([...found.keys()]).toEqual(hashes)
    const texts = hashes.map((hash) => new TextDecoder().decode(found.get(hash)))
    expect(texts.join('')).toBe(content)
    expect(texts[1]).toBe('the end')
  })

  test('are all there: nothing is put anywhere', async () => {
    const { blocks } = await prepared()
    expect(await blocks.findBlocks('s', ['1', '2'])).toEqual(new Set(['1', '2']))
    expect(await blocks.putBlocks()).toBeUndefined()
  })

  test('and nothing else of a store is', async () => {
    const { blocks } = await prepared()
    for (const unused of [
      'getManifest',
      'listManifests',
      'deleteManifest',
      'listScopes',
      'sweep',
    ] as const) {
      await expect(blocks[unused]()).rejects.toEqual(new TypeError('only blocks are read'))
    }
  })
})

// The files of a checkpoint: which there are, who has them, and how they come back.
import { defineAgent } from '@helix-agents/core'
import type { SnapshotRef, WorkspaceProvider, WorkspaceRef } from '@helix-agents/core/provider'
import type { Checkpoint } from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { findFiles, findOne, restoreFiles } from '../../../src/history/checkpoint-files.ts'
import { Making } from '../../../src/history/making.ts'
import type { RunServices } from '../../../src/ports.ts'
import { settle } from '../../harness.ts'

const box = { provider: { kind: 'box' }, capabilities: { fs: true } } as const
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { files: { ...box, history: 'step' }, more: { ...box, history: 'step' }, plain: box },
})
const { files: declared, more, plain } = agent.workspaces
const refOf = (ref: string, extra: object = {}): WorkspaceRef => ({
  providerId: 'box',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref,
  ...extra,
})
const snapshot = (providerId = 'box', ref = 'x'): SnapshotRef => ({ providerId, ref })
const checkpoint = (given: Partial<Checkpoint>) =>
  ({ sessionId: 's', id: 'c', workspaceRefs: {}, ...given }) as Checkpoint
const kept = checkpoint({ workspaceSnapshots: { files: { snapshot: snapshot() } } })
const moved = { provider: { kind: 'elsewhere', size: 3 } }

describe('of a checkpoint', () => {
  test('all workspaces with a history are wanted, or those that are named', () => {
    expect(findFiles(agent, kept, true)).toEqual([
      { declaration: declared, snapshot: snapshot() },
      { declaration: more },
    ])
    expect(findFiles(agent, kept, ['more'])).toEqual([{ declaration: more }])
    expect(findFiles(agent, kept, [])).toEqual([])
    for (const name of ['plain', 'constructor', 'none']) {
      expect(() => findFiles(agent, kept, [name])).toThrow(
        expect.objectContaining({
          code: 'files-missing',
          message: `session s: checkpoint c has no files of workspace "${name}": it declares no history`,
          hint: 'Go back without files, or to another checkpoint.',
        }),
      )
    }
  })

  test.each<readonly [Partial<Checkpoint>, string]>([
    [{ workspaceSnapshots: { files: { missing: 'failed' } } }, 'its snapshot could not be taken'],
    [
      { workspaceSnapshots: { files: { missing: 'evicted' } } },
      'a limit of its history has removed them',
    ],
    [{ workspaceRefs: { files: refOf('r') } }, 'it had no history then'],
  ])('files are missing: %j', (given, why) => {
    expect(() => findOne(checkpoint(given), declared)).toThrow(`workspace "files": ${why}`)
  })

  test.each<readonly [string, SnapshotRef, object, object]>([
    ['where the workspace is declared', snapshot(), {}, {}],
    ['where it is declared, before it was moved', snapshot(), { moved }, {}],
    [
      'where it was moved to',
      snapshot('elsewhere'),
      { moved },
      { provider: moved.provider, isMoved: true },
    ],
    [
      'where it was once, and is not any more',
      snapshot('gone'),
      { moved },
      { provider: { kind: 'gone' }, isMoved: true },
    ],
  ])('they are with the provider %s', (_, one, extra, change) => {
    const point = checkpoint({
      workspaceSnapshots: { files: { snapshot: one } },
      workspaceRefs: { files: refOf('r', extra) },
    })
    expect(findOne(point, declared)).toEqual({
      declaration: { ...declared, ...change },
      snapshot: one,
    })
  })
})

const session = { sessionId: 's', agentType: 'a' }
const err = new Error('damaged')

function worldOf(change: object = {}) {
  const events: unknown[] = []
  const [logger, clock, metrics] = [
    new RecordingLogger(),
    new ManualClock(7),
    createRecordingMetrics(),
  ]
  const opened = (ref: WorkspaceRef, detail?: string) => ({
    ws: {
      id: 'w',
      isolation: 'none',
      close: async () => {},
      detach: async () => {
        await settle()
        events.push(`let go ${String(ref.ref)}`)
      },
      snapshot: {
        restore: async (one: SnapshotRef, options: object) => {
          events.push(['copied', one.ref, options])
          return refOf('copy')
        },
      },
    },
    ref: { ...ref, ref: `${String(ref.ref)}!` },
    receipt: { outcome: 'reattached', ...(detail !== undefined && { detail }) },
  })
  const provider = {
    providerId: 'box',
    capabilities: { fs: true },
    resolve: async (ref: WorkspaceRef) => opened(ref),
    release: async ({ ref }: WorkspaceRef) => void events.push(`ended ${String(ref)}`),
    history: {
      restore: async (
        one: SnapshotRef,
        options: { onMaking?: (ref: WorkspaceRef) => Promise<void> } & object,
      ) => {
        const { onMaking, ...rest } = options
        await onMaking?.(refOf('made'))
        events.push(['restored', one.ref, Reflect.get(rest, 'allowCrossSession')])
        return refOf(`${String(one.ref)}-made`)
      },
    },
    ...change,
  } as unknown as WorkspaceProvider
  const stateStore = {
    recordReleased: async (...given: unknown[]) => (events.push(['recorded', ...given]), 1),
  }
  const services = {
    providers: new Map([['box', provider]]),
    stateStore,
    clock,
    logger,
    metrics,
    tracer: undefined,
    lifecycle: {
      onOpen: ({ workspace }: { workspace: string }) => void events.push(`told ${workspace}`),
    },
  } as unknown as RunServices
  const restore = (given: Partial<Parameters<typeof restoreFiles>[1]> = {}) =>
    restoreFiles(services, {
      session,
      files: [{ declaration: declared, snapshot: snapshot() }, { declaration: more }],
      ...given,
    })
  return { services, events, metrics, restore, opened }
}

describe('the files of a snapshot', () => {
  test('come back in a backend that is opened once; a younger workspace begins anew', async () => {
    const { restore, events, metrics } = worldOf()
    expect(await restore()).toEqual({ files: refOf('x-made!'), more: null })
    expect(events).toEqual([['restored', 'x', false], 'let go x-made', 'told files'])
    const labels = { workspace: 'files', providerId: 'box' }
    expect(metrics.calls('incSnapshot')).toEqual([[labels, 'restore', 'success']])
  })

  test('of another session, and with a record of what is made, when that is said', async () => {
    const { restore, events, services } = worldOf()
    await restore({ allowCrossSession: true, making: new Making(services, { sessionId: 's' }) })
    expect(events.slice(0, 2)).toEqual([
      ['recorded', 's', { workspace: 'files', ref: refOf('made') }, 7],
      ['restored', 'x', true],
    ])
  })

  test('elsewhere than declared are known as such, with what is not there', async () => {
    const declaration = { ...declared, provider: { kind: 'box', size: 1 }, isMoved: true }
    const files = [{ declaration, snapshot: snapshot() }]
    const { restore, opened } = worldOf()
    const place = { provider: declaration.provider }
    expect(await restore({ files })).toEqual({ files: refOf('x-made!', { moved: place }) })
    const lossy = worldOf({ resolve: async (ref: WorkspaceRef) => opened(ref, 'no links') })
    const told = refOf('x-made!', { moved: { ...place, notice: 'no links' } })
    expect(await lossy.restore({ files })).toEqual({ files: told })
    const plainly = await lossy.restore()
    expect(plainly['files']).toMatchObject({ moved: { notice: 'no links' } })
  })

  test('that cannot come back free those that did', async () => {
    const files = [
      { declaration: declared, snapshot: snapshot() },
      { declaration: more, snapshot: snapshot('box', 'bad') },
    ]
    const history = {
      restore: async ({ ref }: SnapshotRef) =>
        ref === 'bad' ? Promise.reject(err) : refOf(`${String(ref)}-made`),
    }
    const { restore, events, metrics } = worldOf({ history })
    await expect(restore({ files })).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('the files of workspace "more" could not be restored'),
      cause: err,
    })
    expect(events).toEqual(['let go x-made', 'told files', 'ended x-made!'])
    expect(metrics.calls('incSnapshot').at(-1)?.slice(1)).toEqual(['restore', 'error'])
    // One that was made and cannot be opened is ended too.
    const closed = worldOf({ resolve: () => Promise.reject(err) })
    await expect(closed.restore()).rejects.toMatchObject({ cause: err })
    expect(closed.events.at(-1)).toBe('ended x-made')
  })
})

describe('by a provider without a history', () => {
  const current = { files: refOf('open') }
  const cannot = { cause: { code: 'capability-missing' } }

  test('an open workspace of the session makes the copy, and is let go', async () => {
    const { restore, events } = worldOf({ history: undefined })
    expect(await restore({ current, allowCrossSession: true })).toMatchObject({
      files: { ref: 'copy!' },
    })
    expect(events).toEqual([
      ['copied', 'x', { allowCrossSession: true }],
      'let go open',
      'let go copy',
      'told files',
    ])
  })

  test('none can be made without it, or when it takes no snapshots', async () => {
    const { restore } = worldOf({ history: undefined })
    await expect(restore()).rejects.toMatchObject(cannot)
    const away = { files: refOf('open', { providerId: 'other' }) }
    await expect(restore({ current: away })).rejects.toMatchObject(cannot)
    const { opened } = worldOf()
    const events: string[] = []
    const detach = async () => void events.push('let go')
    const resolve = async (ref: WorkspaceRef) => {
      const { ws, ...rest } = opened(ref)
      return { ...rest, ws: { ...ws, detach, snapshot: undefined } }
    }
    const bare = worldOf({ history: undefined, resolve })
    await expect(bare.restore({ current })).rejects.toMatchObject(cannot)
    expect(events).toEqual(['let go'])
  })
})

test('a provider that is not there cannot bring them back', async () => {
  const { restore } = worldOf()
  const files = [{ declaration: plain, snapshot: snapshot('gone') }]
  await expect(restore({ files })).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining(
      'provider gone cannot bring back the files of workspace "plain"',
    ),
  })
})

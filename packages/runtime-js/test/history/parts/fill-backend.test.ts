// A new backend that is filled with files: what must be the same there, what may differ, what a failure leaves.
import { defineAgent } from '@helix-agents/core'
import {
  type FileAttributes,
  type FileMode,
  type FileSystem,
  takeSnapshot,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { fillBackend } from '../../../src/history/fill-backend.ts'
import { Making } from '../../../src/history/making.ts'
import type { RunServices } from '../../../src/ports.ts'

const session = { sessionId: 's', agentType: 'a' }
const ref: WorkspaceRef = {
  providerId: 'there',
  schemaVersion: 1,
  capabilities: { fs: true },
  ref: { id: 'w' },
}
const declaration = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'there' }, capabilities: { fs: true } } },
}).workspaces.box

/** Files with permission bits and links, as far as the attributes go. */
function withAttributes(attributes: FileAttributes): FileSystem {
  return Object.assign(new InMemoryFileSystem(), { attributes })
}

function modes(given: Readonly<Record<string, number>> = {}, standard = 0o644) {
  const known = new Map(Object.entries(given))
  return {
    readMode: async (path: string) => known.get(path) ?? standard,
    writeModes: async (all: readonly FileMode[]) => {
      for (const { path, mode } of all) known.set(path, mode)
    },
  }
}

/** The files `/a` and `/b` of a source. */
async function sourceOf(attributes?: FileAttributes) {
  const fs = attributes === undefined ? new InMemoryFileSystem() : withAttributes(attributes)
  await fs.writeFile('/a', 'one')
  await fs.writeFile('/b', 'two')
  const store = new InMemorySnapshotStore()
  const { manifest } = await takeSnapshot(fs, store, {
    scope: 's',
    session,
    workspace: 'box',
    workspaceId: 'box',
    providerId: 'here',
  })
  return { manifest, store, scope: 's' }
}

interface Target {
  readonly fs?: FileSystem | undefined
  readonly more?: Partial<WorkspaceProvider>
}

function placeOf({ fs = new InMemoryFileSystem(), more = {} }: Target = {}, hasFiles = true) {
  const [clock, logger, events] = [new ManualClock(70), new RecordingLogger(), [] as unknown[]]
  const ws = () => ({
    id: 'w',
    isolation: 'none' as const,
    ...(hasFiles && { fs }),
    close: async () => {},
    detach: async () => void events.push('let go'),
  })
  const provider: WorkspaceProvider = {
    providerId: 'there',
    capabilities: { fs: true },
    refSchemaVersion: 1,
    open: async (config, owner, { workspace, resolvedAs, onMaking, capabilities }) => {
      await onMaking?.(ref)
      events.push({ opened: workspace.slice(0, 4), resolvedAs, config, owner, capabilities })
      return { ws: ws(), ref, receipt: { outcome: 'created' } }
    },
    resolve: async ({ moved }, { workspace, config }) => {
      events.push({ resolved: workspace, config, moved })
      return { ws: ws(), ref, receipt: { outcome: 'reattached' } }
    },
    release: async (_, options) => {
      const { workspace, resolvedAs } = options
      events.push({ released: workspace.slice(0, 4), resolvedAs })
    },
    ...more,
  }
  const stateStore = {
    recordReleased: async (...given: unknown[]) => (events.push({ recorded: given }), 7),
  }
  const services = {
    providers: new Map([['there', provider]]),
    stateStore,
    clock,
    logger,
    lifecycle: {
      onOpen: ({ workspaceId }: { workspaceId: string }) => void events.push(`told ${workspaceId}`),
    },
  } as unknown as RunServices
  const making = new Making(services, { sessionId: 's' })
  return { place: { services, making, session, declaration }, making, events, logger }
}

const content = async (attributes?: FileAttributes) => ({
  source: await sourceOf(attributes),
  losses: [],
  event: 'was moved',
})
const notice = (text: string) =>
  `Workspace "box" was moved: processes of earlier messages are gone. ${text}`

test('it is recorded, made under a name of its own, filled, let go, and opened as its session will', async () => {
  const { place, making, events } = placeOf()
  const given = await content()
  const filled = await fillBackend(place, given)
  const moved = { provider: { kind: 'there' }, notice: notice('All files are there.') }
  expect(filled.ref).toEqual({ ...ref, moved })
  const { digest } = given.source.manifest.header
  expect(filled.report).toEqual({ workspaceId: 'w', files: 2, bytes: 6, digest, losses: [] })
  const { capabilities } = declaration
  expect(events).toEqual([
    { recorded: ['s', { workspace: 'box', ref }, 70] },
    {
      opened: 'box-',
      resolvedAs: 'box',
      config: { kind: 'there' },
      owner: session,
      capabilities,
    },
    'let go',
    { resolved: 'box', config: { kind: 'there' }, moved },
    'let go',
    'told w',
  ])
  expect([making.ids, making.isLeft]).toEqual([[7], false])
})

const parseConfig = (config: object) => ({ ...config, kind: 'there', size: 3 })

test('the config is what its provider makes of it', async () => {
  const { place, events } = placeOf({ more: { parseConfig } })
  await fillBackend(place, await content())
  expect(events[1]).toMatchObject({ config: { kind: 'there', size: 3 } })
})

describe('permission bits', () => {
  test('are copied, and must be the same there', async () => {
    const there = modes()
    const { place } = placeOf({ fs: withAttributes(there) })
    const given = await content(modes({ '/a': 0o755 }))
    expect((await fillBackend(place, given)).report.losses).toEqual([])
    expect(await there.readMode('/a')).toBe(0o755)
    const deaf = { ...modes(), writeModes: async () => {} }
    const other = placeOf({ fs: withAttributes(deaf) })
    await expect(fillBackend(other.place, given)).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining(
        'workspace "box" was not copied as it is: /a and 0 more differ',
      ),
    })
  })

  test('that the new place cannot hold are lost, and told', async () => {
    const given = await content(modes({ '/a': 0o755, '/b': 0o600 }))
    for (const fs of [new InMemoryFileSystem(), withAttributes({ readMode: async () => 0o777 })]) {
      const { place } = placeOf({ fs })
      const { ref: made, report } = await fillBackend(place, given)
      expect(report.losses).toEqual([
        { path: '/a', kind: 'mode' },
        { path: '/b', kind: 'mode' },
      ])
      expect(made.moved?.notice).toBe(notice('Not kept: mode of /a, mode of /b.'))
    }
  })

  test('of a source without any are those of the new place', async () => {
    const { place } = placeOf({ fs: withAttributes(modes({}, 0o600)) })
    expect((await fillBackend(place, await content())).report.losses).toEqual([])
  })
})

describe('a copy that differs is thrown away', () => {
  test.each<readonly [string, (fs: InMemoryFileSystem) => void, string]>([
    [
      'in what is written',
      (fs) => {
        const write = fs.writeFile.bind(fs)
        fs.writeFile = (path, _, options) => write(path, 'other', options)
      },
      '/a and 1 more differ',
    ],
    [
      'in what is there beside it',
      (fs) => {
        const write = fs.writeFile.bind(fs)
        fs.writeFile = async (path, data, options) => {
          if (path === '/a') await write('/z', 'more')
          return write(path, data, options)
        }
      },
      '/z and 0 more differ',
    ],
  ])('%s', async (_, change, text) => {
    const fs = new InMemoryFileSystem()
    change(fs)
    const { place, making, events } = placeOf({ fs })
    await expect(fillBackend(place, await content())).rejects.toThrow(text)
    expect(events.at(-1)).toEqual({ released: 'box-', resolvedAs: 'box' })
    expect(making.isLeft).toBe(false)
  })
})

const busy = () => Promise.reject(new Error('busy'))
const silent = () => Promise.reject(new Error('no answer'))

describe('what may be left is marked', () => {
  test('when it cannot be released', async () => {
    const { place, making } = placeOf({ more: { release: busy, resolve: busy } })
    await expect(fillBackend(place, await content())).rejects.toThrow('busy')
    expect(making.isLeft).toBe(true)
  })

  test('when it may have been made although that failed', async () => {
    const { place, making } = placeOf({ more: { open: silent } })
    await expect(fillBackend(place, await content())).rejects.toThrow('no answer')
    expect(making.isLeft).toBe(true)
  })
})

test('nothing is made for files that are too large, and of a place without files', async () => {
  const { place, events } = placeOf()
  const small = {
    ...declaration,
    capabilities: { ...declaration.capabilities, fs: { maxFileSizeMb: 0.000_001 } as never },
  }
  const filling = fillBackend({ ...place, declaration: small }, await content())
  await expect(filling).rejects.toMatchObject({ code: 'too-large' })
  expect(events).toEqual([])
  const bare = placeOf({}, false)
  await expect(fillBackend(bare.place, await content())).rejects.toMatchObject({
    code: 'capability-missing',
    message: expect.stringContaining('workspace "box" cannot move to there, which has no files'),
  })
  expect(bare.events.at(-1)).toMatchObject({ released: 'box-' })
  const gone = { ...place, declaration: { ...declaration, provider: { kind: 'gone' } } }
  await expect(fillBackend(gone, await content())).rejects.toMatchObject({
    code: 'capability-missing',
  })
})

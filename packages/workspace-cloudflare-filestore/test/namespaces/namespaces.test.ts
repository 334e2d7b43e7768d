import { env } from 'cloudflare:workers'
import type { Workspace, WorkspaceRef } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inObject } from '../objects.ts'
import { createProvider, openOptions, type ProviderSetup } from '../provider-harness.ts'

const sampler = new TestSampler()

interface Owner {
  readonly sessionId: string
  readonly workspace: string
  readonly namespace?: string
}

async function open(
  storage: FileStoreStorage,
  owner: Owner,
  setup: ProviderSetup = {},
): Promise<{ ws: Workspace; ref: WorkspaceRef; outcome: string }> {
  const { sessionId, workspace, namespace } = owner
  const shared = namespace === undefined ? {} : { namespace, shareAcrossSessions: true }
  const { ws, ref, receipt } = await createProvider(storage, setup).open(
    { kind: 'cloudflare-filestore', ...shared },
    { sessionId, agentType: 'tester' },
    openOptions({ workspace }),
  )
  return { ws, ref, outcome: receipt.outcome }
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('a', 'a","b', '["session","a","b"]', 'session', 'namespace', '\uD800', '\uD801'),
  fc.constantFrom('\uFFFD', "';DROP TABLE helix_fs_nodes;--", 'a\0', 'a\0b', '%', '__proto__'),
)
const owner: fc.Arbitrary<Owner> = fc.oneof(
  fc.record({ sessionId: hostile, workspace: fc.constantFrom('box', 'a', 'b') }),
  fc.record({
    sessionId: hostile,
    workspace: fc.constantFrom('box', 'a'),
    namespace: hostile.filter((text) => text !== ''),
  }),
)

const keyOf = ({ sessionId, workspace, namespace }: Owner): string =>
  namespace === undefined
    ? `session ${encode(sessionId)} ${workspace}`
    : `namespace ${encode(namespace)}`

/** Each unit as a number: no two texts are the same. */
const encode = (text: string): string =>
  text
    .split('')
    .map((it) => it.charCodeAt(0))
    .join('.')

test('crafted sessions and namespaces never cross', { timeout: 120_000 }, async () => {
  const property = fc.asyncProperty(fc.array(owner, { minLength: 2, maxLength: 12 }), (owners) =>
    inObject(async (storage) => {
      const wanted = new Map<string, Set<string>>()
      for (const [index, one] of owners.entries()) {
        const { ws } = await open(storage, one)
        await ws.fs?.writeFile(`/file-${index}`, keyOf(one))
        const names = wanted.get(keyOf(one)) ?? new Set()
        wanted.set(keyOf(one), names.add(`file-${index}`))
      }
      for (const one of owners) {
        const { ws } = await open(storage, one)
        const seen = await ws.fs?.ls('/')
        expect(new Set(seen?.map((entry) => entry.name))).toEqual(wanted.get(keyOf(one)))
        const { matches = [] } = (await ws.fs?.grep('.')) ?? {}
        expect(matches.filter((match) => match.line !== keyOf(one).split('\n')[0])).toEqual([])
      }
    }),
  )
  await fc.assert(property, { numRuns: sampler.size(100, 25), seed: sampler.seedOf('owners') })
})

test('objects of two databases never meet in one bucket', async () => {
  const setup = { r2: env.BUCKET, inlineThresholdBytes: 1, collectionGraceMs: 0 }
  const same = { sessionId: 's', workspace: 'box', namespace: 'notes' }
  await inObject(async (first) => {
    const one = await open(first, same, setup)
    await one.ws.fs?.writeFile('/a', 'the same content')
    await inObject(async (second) => {
      const other = await open(second, same, setup)
      await other.ws.fs?.writeFile('/a', 'the same content')
      await other.ws.fs?.rm('/a')
      await createProvider(second, setup).collect(Date.now() + 1)
    })
    expect(await one.ws.fs?.readText?.('/a')).toBe('the same content')
  })
  expect((await env.BUCKET.list()).objects).toHaveLength(1)
})

describe('a namespace by name', () => {
  const namespace = 'team-notes'

  test.each([{ namespace }, { namespace, shareAcrossSessions: false }])(
    '%j is refused',
    async (config) => {
      await inObject(async (storage) => {
        const opening = createProvider(storage).open(
          { kind: 'cloudflare-filestore', ...config },
          { sessionId: 's', agentType: 'tester' },
          openOptions(),
        )
        await expect(opening).rejects.toMatchObject({ code: 'sharing-not-declared' })
      })
    },
  )

  test.each([
    { namespace: '' },
    { namespace: 'n'.repeat(257), shareAcrossSessions: true },
    { namespace: 7, shareAcrossSessions: true },
    { shareAcrossSessions: true },
    { namespace, shareAcrossSessions: 'yes' },
  ])('%j is not valid', async (config) => {
    await inObject(async (storage) => {
      const parse = () =>
        createProvider(storage).parseConfig({ kind: 'cloudflare-filestore', ...config })
      expect(parse).toThrowError(expect.objectContaining({ code: 'config-invalid' }))
    })
  })

  test('is shared, and outlives the sessions', async () => {
    await inObject(async (storage) => {
      const first = await open(storage, { sessionId: '1', workspace: 'a', namespace })
      await first.ws.fs?.writeFile('/a', 'shared')
      await first.ws.close()
      await expect(first.ws.fs?.readFile('/a')).rejects.toMatchObject({ code: 'lost' })
      const second = await open(storage, { sessionId: '2', workspace: 'b', namespace })
      expect(second.outcome).toBe('reattached')
      expect(await second.ws.fs?.readText?.('/a')).toBe('shared')
      const options = { ...openOptions(), session: { sessionId: '3', agentType: 'tester' } }
      const third = await createProvider(storage).resolve(first.ref, options)
      expect(await third.ws.fs?.readText?.('/a')).toBe('shared')
    })
  })
})

describe('files of a session', () => {
  const own = { sessionId: 'mine', workspace: 'box' }

  test('are found again without a ref', async () => {
    await inObject(async (storage) => {
      const first = await open(storage, own)
      await first.ws.fs?.writeFile('/a', 'kept')
      const second = await open(storage, own)
      expect([first.outcome, second.outcome]).toEqual(['created', 'reattached'])
      expect(await second.ws.fs?.readText?.('/a')).toBe('kept')
    })
  })

  test('open to no other session, even with their ref', async () => {
    await inObject(async (storage) => {
      const { ref } = await open(storage, own)
      const options = { ...openOptions(), session: { sessionId: 'other', agentType: 'tester' } }
      const resolving = createProvider(storage).resolve(ref, options)
      await expect(resolving).rejects.toMatchObject({ code: 'ref-invalid' })
    })
  })

  test('removed, they do not come back by an old ref, and no old version looks current', async () => {
    await inObject(async (storage) => {
      const first = await open(storage, own)
      const old = await first.ws.fs?.writeFile('/a', 'one')
      await first.ws.close()
      const second = await open(storage, own)
      expect(second.outcome).toBe('created')
      expect((await second.ws.fs?.writeFile('/a', 'two'))?.version).not.toBe(old?.version)
      const options = { ...openOptions(), session: { sessionId: 'mine', agentType: 'tester' } }
      const resolving = createProvider(storage).resolve(first.ref, options)
      await expect(resolving).rejects.toMatchObject({ code: 'lost' })
    })
  })

  test('with the database, are lost', async () => {
    await inObject(async (storage) => {
      const { ws } = await open(storage, own)
      await ws.fs?.writeFile('/a', 'x')
      await storage.deleteAll()
      await expect(ws.fs?.readFile('/a')).rejects.toMatchObject({ code: 'lost' })
      await expect(ws.fs?.writeFile('/a', 'x')).rejects.toMatchObject({ code: 'lost' })
    })
  })

  test('in a bucket that is not there any more, do not open', async () => {
    await inObject(async (storage) => {
      const { ws } = await open(storage, own, { r2: env.BUCKET, inlineThresholdBytes: 1 })
      await open(storage, own)
      await ws.fs?.writeFile('/a', 'in the bucket')
      await expect(open(storage, own)).rejects.toMatchObject({ code: 'config-invalid' })
    })
  })
})

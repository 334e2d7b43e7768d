import { noopLogger } from '@helix-agents/core'
import {
  type OpenOptions,
  portableSnapshots,
  type SnapshotManifest,
  type SnapshotStore,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'

const kind = 'full'
const ref: WorkspaceRef = { providerId: kind, schemaVersion: 1, capabilities: {}, ref: {} }
const session = { sessionId: 's', agentType: 'a' }

test('a provider that restores beside a workspace knows who will resolve it, and says what it makes', async () => {
  const seen: OpenOptions[] = []
  const made: WorkspaceRef[] = []
  const provider = portableSnapshots(
    {
      providerId: kind,
      capabilities: { fs: true },
      refSchemaVersion: 1,
      parseConfig: () => ({ kind }),
      open: async (_config, _session, options) => {
        seen.push(options)
        await options.onMaking?.(ref)
        throw new RangeError('no room')
      },
      resolve: async () => {
        throw new RangeError('nothing is there')
      },
    },
    {
      store: {
        getManifest: async () => ({ header: session }) as SnapshotManifest,
      } as unknown as SnapshotStore,
    },
  )
  const snapshot = { schemaVersion: 1, scope: 's', snapshotId: 'snapshot-0123456789' }
  const restoring = provider.history?.restore(
    { providerId: kind, ref: snapshot },
    {
      workspace: 'box',
      session,
      capabilities: {},
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: new ManualClock(),
      onMaking: async (one) => void made.push(one),
    },
  )
  await expect(restoring).rejects.toThrow('no room')
  expect(made).toEqual([ref])
  const [options] = seen
  expect(options).toMatchObject({ resolvedAs: 'box' })
  expect(options?.workspace).not.toBe('box')
})

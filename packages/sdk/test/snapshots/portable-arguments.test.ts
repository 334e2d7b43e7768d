import { portableSnapshots } from '@helix-agents/core/provider'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'

const provider = new InMemoryWorkspaceProvider()
const store = new InMemorySnapshotStore()

test.each([undefined, null, {}, { store: undefined }, { store: 'snapshots' }, { store: {} }])(
  '%j names no store: a TypeError before any snapshot is taken',
  (options) => {
    expect(() => portableSnapshots(provider, options as never)).toThrow(
      new TypeError('portableSnapshots: store must be a SnapshotStore'),
    )
  },
)

test.each([undefined, null, 'in-memory', {}, InMemoryWorkspaceProvider])(
  '%s is no provider',
  (none) => {
    expect(() => portableSnapshots(none as never, { store })).toThrow(
      new TypeError('portableSnapshots: the first argument must be a workspace provider'),
    )
  },
)

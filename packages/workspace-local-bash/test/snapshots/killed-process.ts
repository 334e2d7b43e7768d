// Attaches to a workspace and is killed before a call on the store of snapshots returns.
import { SESSION, TestHost } from '../open-workspace.ts'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'

const [tmpdirRoot = '', directory = '', method = '', taken = ''] = process.argv.slice(2)
const provider = new TestHost({ tmpdirRoot, snapshots: { maxSnapshots: 1 } })
const ref = { directory, isolation: 'none' }
const full = { providerId: 'local-bash', schemaVersion: 1, capabilities: {}, ref }
const { ws } = await provider.resolve(full, SESSION.sessionId)
const original: unknown = Reflect.get(DirectorySnapshotStore.prototype, method)
Reflect.set(
  DirectorySnapshotStore.prototype,
  method,
  async function (this: DirectorySnapshotStore, ...args: readonly unknown[]) {
    if (typeof original === 'function') await Reflect.apply(original, this, args)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  },
)
if (method === 'getBlocks') await ws.snapshot.restore(JSON.parse(taken))
else await ws.snapshot.snapshot()

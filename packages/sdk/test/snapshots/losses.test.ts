import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import { type OpenOptions, portableSnapshots } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, onTestFinished, test } from 'vitest'

const session = { sessionId: 'session', agentType: 'agent' }

test('what a snapshot or a restored workspace cannot hold is logged', async () => {
  const tmpdirRoot = mkdtempSync(join(tmpdir(), 'helix-losses-'))
  onTestFinished(() => rmSync(tmpdirRoot, { recursive: true, force: true }))
  const logger = new RecordingLogger()
  const options: OpenOptions = {
    workspace: 'box',
    capabilities: {},
    signal: new AbortController().signal,
    logger,
    clock: systemClock,
  }
  const store = new InMemorySnapshotStore()
  const disk = portableSnapshots(new LocalBashWorkspaceProvider({ tmpdirRoot }), { store })
  const { ws } = await disk.open({ kind: 'local-bash', isolation: 'none' }, session, options)
  await ws.fs?.writeFile('/run.sh', 'echo')
  await ws.shell?.run('chmod +x run.sh; mkfifo pipe')
  const snapshot = await ws.snapshot?.snapshot()
  expect(logger.with('snapshot does not hold everything')).toHaveLength(1)

  const memory = portableSnapshots(new InMemoryWorkspaceProvider(), { store })
  if (snapshot === undefined) throw new Error('no snapshot')
  const moved = { ...snapshot, providerId: 'in-memory' }
  await memory.history?.restore(moved, { ...options, session })
  expect(logger.with('restored workspace does not hold everything')).toHaveLength(1)
  await ws.close()
})

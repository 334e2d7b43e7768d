import { expect, test, vi } from 'vitest'
import { fileSystemConfigSchema } from '../../../src/modules/fs/config.ts'
import { portableSnapshots } from '../../../src/snapshot-store/portable/portable-snapshots.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { RecordingLogger } from '../../../src/testing/recording-logger.ts'
import { MapStore } from '../map-store.ts'
import { TreeProvider } from './tree-provider.ts'

test('the snapshots end after the workspace itself, and not when that fails to close', async () => {
  const [inner, store] = [new TreeProvider(), new MapStore()]
  const provider = portableSnapshots(inner, { store })
  const open = async () => {
    const opened = await provider.open(
      { kind: 'tree' },
      { sessionId: 'session', agentType: 'agent' },
      {
        workspace: 'box',
        capabilities: {
          fs: fileSystemConfigSchema.parse({}),
          snapshot: { allowCrossSession: false },
        },
        signal: new AbortController().signal,
        logger: new RecordingLogger(),
        clock: new ManualClock(),
      },
    )
    return opened.ws
  }
  const sweep = store.sweep.bind(store)
  const ended = vi.spyOn(store, 'sweep').mockImplementation(() => {
    inner.calls.push('sweep')
    return sweep()
  })
  const ws = await open()
  await ws.close()
  expect(inner.calls.slice(-2)).toEqual([`close ${ws.id}`, 'sweep'])
  ended.mockClear()
  inner.prepare = (made) => ({ ...made, close: () => Promise.reject(new Error('still busy')) })
  const busy = await open()
  await expect(busy.close()).rejects.toThrow('still busy')
  expect(ended).not.toHaveBeenCalled()
})

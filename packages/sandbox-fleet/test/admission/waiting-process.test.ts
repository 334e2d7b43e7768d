import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// Nothing but the queue is under way in it: no socket, no process, no other timer.
const program = `
  import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
  const driver = { provider: 'demo', inspect: async () => ({ state: 'running' }), terminate: async () => {} }
  const policy = { maxConcurrentSandboxes: 1 }
  const fleet = new Fleet({ store: new MemoryFleetStore(), drivers: [driver], environment: 'test', policy })
  const open = (id) =>
    fleet.admission.open({ id, provider: 'demo', onFull: 'queue', queueTimeoutMs: 50 }, async () => {})
  await open('first')
  console.log(await open('second').catch(({ code }) => code))
`

test(
  'a process that waits for room does not end before its time is up',
  { timeout: 120_000 },
  async () => {
    const args = ['--conditions=@helix-agents/source', '--input-type=module', '--eval', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: import.meta.dirname,
    })
    expect(stdout.trim()).toBe('capacity-exhausted')
  },
)

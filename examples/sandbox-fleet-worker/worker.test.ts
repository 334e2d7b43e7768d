import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sandboxTestbedAvailability, startSandboxTestbed } from '@helix-agents/sandbox-testbed'
import { describe, expect, test } from 'vitest'

const SLOW = 300_000
const here = await sandboxTestbedAvailability()
const hasCurl = spawnSync('curl', ['--version']).status === 0
const reasons = [...(here.available ? [] : [here.reason]), ...(hasCurl ? [] : ['there is no curl'])]
const skipNote = reasons.length === 0 ? '' : ` (skipped: ${reasons.join(', ')})`
if (skipNote !== '') console.warn(`sandbox-fleet-worker${skipNote}`)

describe.skipIf(skipNote !== '')(`the Worker example${skipNote}`, () => {
  test(
    'prints what its README shows',
    async () => {
      const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
      const shown = /^```text\n(?<output>[\s\S]*?)```/m.exec(readme)?.groups?.output
      const main = join(import.meta.dirname, 'main.ts')
      const args = ['--conditions=@helix-agents/source', main]
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
      expect([stdout, stderr]).toEqual([shown, ''])
    },
    SLOW,
  )
  test(
    'as it is deployed it wants the token everywhere, and its clock is that of the platform',
    async () => {
      await using testbed = await startSandboxTestbed({
        worker: {
          entry: join(import.meta.dirname, 'src/worker.ts'),
          durableObjects: {
            SANDBOX: { className: 'TaskSandbox', container: true },
            FLEET: 'FleetDirectory',
          },
          bindings: { ENVIRONMENT: 'test', FLEET_TOKEN: 'a-token-of-the-operator' },
        },
      })
      const statusOf = async (path: string, init?: RequestInit) =>
        (await testbed.fetch(path, init)).status
      const post = { method: 'POST', body: 'echo hi' }
      expect(await statusOf('/')).toBe(200)
      expect(await statusOf('/api/sandbox/stats')).toBe(401)
      expect(await statusOf('/metrics')).toBe(401)
      expect(await statusOf('/tasks/1', post)).toBe(401)
      expect(await statusOf('/local/later?minutes=1')).toBe(404)
      const headers = { authorization: 'Bearer a-token-of-the-operator' }
      expect(await statusOf('/api/sandbox/stats', { headers })).toBe(200)
      expect(await statusOf('/api/sandbox/cleanup', { method: 'POST', headers })).toBe(200)
      expect(await testbed.sandboxes()).toEqual([])
    },
    SLOW,
  )
})

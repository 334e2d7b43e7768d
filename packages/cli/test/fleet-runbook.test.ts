// The commands of the runbook, as they stand there, against a fleet.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFleetApp } from '@helix-agents/sandbox-fleet'
import { serve, type ServerType } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runShell } from './child-process.ts'
import { SampleFleet, TOKEN } from './commands/fleet/sample-fleet.ts'
import { commandsOf, fencesOf } from './runbook-page.ts'
import { type ServedHelix, serveHelix } from './served-helix.ts'

const SLOW = { timeout: 120_000 }
const fences = fencesOf('fleet-runbook.md')
const lines = commandsOf('fleet-runbook.md')
const programs = ['curl', 'jq'].filter((name) => spawnSync(name, ['--version']).status !== 0)

function linesOf(program: string): string[] {
  return lines.filter((line) => line.startsWith(`${program} `))
}

/** A fleet with the sandbox of the page, which is stuck. */
async function stuckFleet(): Promise<SampleFleet> {
  const sample = new SampleFleet()
  await sample.add('sandbox_123', { agentType: 'implementation', taskId: 'task_456' })
  await sample.later(12)
  sample.host.hasPerson = true
  sample.host.input = 'yes\n'
  return sample
}

describe('helix', () => {
  // What needs a shell is below.
  it.each(linesOf('helix').filter((line) => !/[$>]|--watch/.test(line)))('%s', async (line) => {
    const sample = await stuckFleet()
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain)
    const { code, err } = await sample.host.run(words.slice(1).map(String))
    // 1 says that something is stuck.
    expect([code, [0, 1].includes(code), err]).toEqual([code, true, err])
  })
})

const skipNote = programs.length === 0 ? '' : ` (skipped in part: no ${programs.join(', ')})`

describe(`a shell${skipNote}`, SLOW, () => {
  let sample: SampleFleet
  let server: ServerType
  let setUp = ''
  let folder = ''
  let helix: ServedHelix
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
    helix = await serveHelix(folder)
    sample = await stuckFleet()
    const { clock } = sample.host
    const app = createFleetApp({ fleet: sample.fleet, adminToken: TOKEN, clock })
    server = serve({
      fetch: app.fetch,
      hostname: '127.0.0.1',
      port: 0,
      overrideGlobalObjects: false,
    })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    // As the page has it, with another host and token.
    const page = (fences[0] ?? '')
      .replace('https://fleet.example.com', `http://127.0.0.1:${port}`)
      .replace('…', TOKEN)
    setUp = `unset -f helix; export PATH='${helix.bin}':"$PATH"\n${page}`
  })
  afterAll(() => {
    server.close()
    helix.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.skipIf(programs.includes('curl')).each(linesOf('fleet'))('%s', async (line) => {
    const { code, err, out } = await runShell(`${setUp}\n${line}`, folder)
    expect([code, err]).toEqual([0, ''])
    // The error of a failure; a pass has a field of this name that is null.
    expect(out).not.toMatch(/"error":\{/)
  })
  it.skipIf(programs.length > 0)('collects what is to be handed on', async () => {
    const collect = fences.find((fence) => fence.includes('mkdir incident')) ?? ''
    await sample.add('sandbox_124')
    await sample.later(12)
    const { code } = await runShell(`${setUp}\n${collect}`, folder)
    expect(code).toBe(0)
    expect(readdirSync(join(folder, 'incident')).toSorted()).toEqual([
      'cleanup.json',
      'list.json',
      'logs-sandbox_124.txt',
      'metrics.txt',
      'reconcile.json',
      'show-sandbox_124.json',
      'stats.json',
    ])
  })
})

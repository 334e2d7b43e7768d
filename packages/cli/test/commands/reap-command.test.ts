import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestHost } from '../test-host.ts'

const HOUR_MS = 3_600_000
const OWNER = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock }
const { ws } = await new LocalBashWorkspaceProvider({ tmpdirRoot: process.argv[1] })
  .open({ kind: 'local-bash' }, { sessionId: 's', agentType: 'a' }, options)
console.log(ws.id)
setInterval(() => {}, 1000)
`

let root: string
let host: TestHost
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'helix-cli-'))
  host = new TestHost()
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** A workspace of another process. */
async function startOwner(): Promise<{ readonly child: ChildProcess; readonly name: string }> {
  const args = ['--conditions=@helix-agents/source', '--input-type=module', '-e', OWNER, root]
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve))
  return { child, name: line.toString().trim() }
}

async function crash(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

async function later(ms: number): Promise<void> {
  await host.clock.advance(Date.now() + ms - host.clock.now())
}

describe('helix reap', () => {
  it.each(['', ' '])(
    'refuses the root %j, which a variable that is not set leaves',
    async (wrong) => {
      const { code, err } = await host.run(['reap', '--root', wrong])
      expect([code, err]).toEqual([2, expect.stringContaining('Give a directory')])
    },
  )

  it('removes what a killed process left, and nothing that lives', async () => {
    const [dead, live] = [await startOwner(), await startOwner()]
    await crash(dead.child)
    mkdirSync(join(root, 'helix-ws-somebody'))
    writeFileSync(join(root, 'helix-ws-somebody', 'file'), '')
    await later(HOUR_MS - 60_000)
    const early = await host.json(['reap', '--root', root])
    expect(early).toMatchObject({ removed: [], waiting: [dead.name], live: [live.name] })
    await later(2 * HOUR_MS)

    const dry = await host.run(['reap', '--root', root, '--dry-run'])
    expect(dry.out.split('\n')).toEqual([
      'DIRECTORY          RESULT        WHY',
      `${dead.name}    would remove  its process is dead`,
      `${live.name}    kept          a running process uses it`,
      'helix-ws-somebody  kept          not a workspace of this user',
      '',
    ])
    expect(readdirSync(root).length).toBe(3)

    const { code, out, err } = await host.run(['reap', '--root', root])
    expect(out).toContain(`${dead.name}    removed  `)
    expect([code, err]).toEqual([0, '1 removed, 2 kept, 0 failed\n'])
    expect(readdirSync(root).toSorted()).toEqual([live.name, 'helix-ws-somebody'].toSorted())
    await crash(live.child)
    expect(await host.json(['reap', '--root', root, '--older-than', '1h'])).toMatchObject({
      dryRun: false,
      removed: [live.name],
      foreign: ['helix-ws-somebody'],
      failed: [],
    })
  })
  it('never takes what is younger than --older-than, empty or not', async () => {
    mkdirSync(join(root, 'helix-ws-unfinished'))
    await later(48 * HOUR_MS)
    const args = ['reap', '--root', root, '--older-than']
    expect(await host.json([...args, '3d'])).toMatchObject({ waiting: ['helix-ws-unfinished'] })
    expect(await host.json([...args, '1h'])).toMatchObject({ removed: ['helix-ws-unfinished'] })
  })
  it('has nothing to do where there is nothing', async () => {
    expect(await host.run(['reap', '--root', join(root, 'no')])).toMatchObject({ code: 0, out: '' })
    expect(existsSync(join(root, 'no'))).toBe(false)
  })
  it('ends with 3 where it cannot look', async () => {
    writeFileSync(join(root, 'file'), '')
    expect((await host.run(['reap', '--root', join(root, 'file')])).code).toBe(3)
  })
  it.each([['--older-than', '5'], ['--older-than'], ['--force'], ['extra']])(
    'refuses %s %s',
    async (...args) => {
      const given = args.filter((arg) => typeof arg === 'string')
      expect((await host.run(['reap', '--root', root, ...given])).code).toBe(2)
    },
  )
})

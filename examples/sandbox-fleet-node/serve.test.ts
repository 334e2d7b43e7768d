// The command with --serve: what it serves, and that nothing of it is left when it is interrupted.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { afterEach, beforeEach, expect, test } from 'vitest'

const SLOW = 180_000
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-fleet-test-'))
})
let child: ChildProcess | undefined
afterEach(async () => {
  if (child !== undefined && child.exitCode === null) {
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    await exit
  }
  rmSync(folder, { recursive: true, force: true })
})

function start() {
  const args = ['--conditions=@helix-agents/source', join(import.meta.dirname, 'main.ts')]
  const started = spawn(process.execPath, [...args, '--serve'], {
    env: { ...process.env, PORT: '0', TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, to which a test sends what a terminal sends.
    detached: true,
  })
  child = started
  return {
    child: started,
    lines: createInterface({ input: started.stdout })[Symbol.asyncIterator](),
  }
}

test(
  'serves the dashboard and the API, and leaves nothing behind',
  async () => {
    const { child: server, lines } = start()
    const { value: line } = await lines.next()
    const [, url = '', token = ''] =
      /^(\S+) is the dashboard; its token is (\S+)$/.exec(line ?? '') ?? []
    const page = await fetch(url)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<table')])
    expect((await fetch(`${url}api/sandbox/stats`)).status).toBe(401)
    const headers = { authorization: `Bearer ${token}` }
    await expect
      .poll(async () => (await fetch(`${url}api/sandbox/stats`, { headers })).json(), {
        timeout: 60_000,
      })
      .toMatchObject({ active: 5 })
    const [name = ''] = readdirSync(folder)
    const tmpdirRoot = join(folder, name, 'workspaces')
    const inventory = new LocalBashInventory({ tmpdirRoot })
    const found = inventory.list().map((look) => look.name)
    expect(found.length).toBeGreaterThan(4)
    const exit = once(server, 'exit')
    // As Ctrl+C: all of its processes get it.
    process.kill(-Number(server.pid), 'SIGINT')
    expect(await exit).toEqual([130, null])
    expect(readdirSync(folder)).toEqual([])
    const used = await Promise.all(found.map((one) => inventory.resources(one)))
    expect(used.filter(({ processes }) => processes > 0)).toEqual([])
  },
  SLOW,
)

test(
  'a port that is taken is said, and nothing is left behind',
  async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const main = join(import.meta.dirname, 'main.ts')
    const ran = spawn(process.execPath, ['--conditions=@helix-agents/source', main, '--serve'], {
      env: { ...process.env, PORT: port, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const said: string[] = []
    ran.stderr.setEncoding('utf8').on('data', (text: string) => void said.push(text))
    expect(await once(ran, 'close')).toEqual([1, null])
    expect(said.join('')).toContain(`port ${port} cannot be used`)
    expect(readdirSync(folder)).toEqual([])
    other.close()
  },
  SLOW,
)

test(
  'a signal of the terminal leaves an agent process to the main one',
  async () => {
    const worker = fork(join(import.meta.dirname, 'worker.ts'), {
      execArgv: ['--conditions=@helix-agents/source'],
    })
    const place = { folder, startedAt: Date.now() }
    worker.send({ name: 'writer', place, commands: [] })
    // From then on it is at work.
    await expect.poll(() => readdirSync(folder).length, { timeout: 60_000 }).toBeGreaterThan(0)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) worker.kill(signal)
    worker.send('finish')
    expect(await once(worker, 'exit')).toEqual([0, null])
  },
  SLOW,
)

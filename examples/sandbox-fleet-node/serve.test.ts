// The command with --serve: what it serves, and that nothing of it is left when it is interrupted.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, expect, test } from 'vitest'

const SLOW = 60_000
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
        timeout: 30_000,
      })
      .toMatchObject({ active: 5 })
    const [name = ''] = readdirSync(folder)
    const tmpdirRoot = join(folder, name, 'workspaces')
    const inventory = new LocalBashInventory({ tmpdirRoot })
    const found = inventory.list().map((look) => look.name)
    expect(found.length).toBeGreaterThan(4)
    const exit = once(server, 'exit')
    server.kill('SIGINT')
    expect(await exit).toEqual([130, null])
    expect(readdirSync(folder)).toEqual([])
    const used = await Promise.all(found.map((one) => inventory.resources(one)))
    expect(used.filter(({ processes }) => processes > 0)).toEqual([])
  },
  SLOW,
)

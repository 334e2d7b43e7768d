// Real directories and real processes: an owner that is killed, and what it left running.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ManualClock } from '@helix-agents/core/testing'
import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { LocalBashFleetDriver } from '@helix-agents/sandbox-fleet/node'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const HOUR_MS = 3_600_000
const OWNER = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const [tmpdirRoot, command] = process.argv.slice(1)
const { ws } = await new LocalBashWorkspaceProvider({ tmpdirRoot }).open({ kind: 'local-bash' },
  { sessionId: 's', agentType: 'a' }, { workspace: 'w', capabilities: {},
  signal: new AbortController().signal, logger: noopLogger, clock: systemClock })
await ws.shell.start('echo $$ > pid; ' + command)
while (!(await ws.fs.glob('pid')).length) await new Promise((next) => setTimeout(next, 10))
console.log(ws.id)
setInterval(() => {}, 1000)
`

let root: string
const owners = new Set<ChildProcess>()
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'helix-fleet-driver-'))
})
afterEach(async () => {
  for (const owner of owners) await kill(owner)
  const inventory = new LocalBashInventory({ tmpdirRoot: root })
  for (const { name, state } of inventory.list()) if (state === 'present') await inventory.end(name)
  rmSync(root, { recursive: true, force: true })
})

/** A workspace that another process owns, with a command that goes on by itself. */
async function openElsewhere(command = 'exec sleep 975') {
  const parameters = ['--conditions=@helix-agents/source', '--input-type=module', '-e', OWNER]
  const owner = spawn(process.execPath, [...parameters, root, command], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  owners.add(owner)
  const [id] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
  return { id, owner, pid: hostPidOf(id) }
}

/** The command of a workspace as the host numbers it: inside it may have a number of its own. */
function hostPidOf(id: string): number {
  const isOf = (name: string): boolean => workingDirectory(name).startsWith(join(root, id))
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOf(name))
    // The last one is the command itself, not what started it.
    .map(Number)
    .toSorted((a, b) => a - b)
    .filter((pid) => !['bwrap', 'unshare'].includes(programOf(pid)))
  const pid = found.at(-1)
  if (pid === undefined) throw new Error('no process works in the workspace')
  return pid
}

function workingDirectory(name: string): string {
  try {
    return readlinkSync(`/proc/${name}/cwd`)
  } catch {
    return ''
  }
}

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? ''
  } catch {
    return ''
  }
}

async function kill(owner: ChildProcess): Promise<void> {
  owners.delete(owner)
  if (owner.exitCode !== null || owner.signalCode !== null) return
  const ended = once(owner, 'exit')
  owner.kill('SIGKILL')
  await ended
}

/** One that has ended and that nobody has fetched is still in the table. */
function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/\) [ZX]/.test(stat)
  } catch {
    return false
  }
}

function openFleet(laterMs: number, environment?: string) {
  const store = new MemoryFleetStore()
  const inventory = new LocalBashInventory({ tmpdirRoot: root })
  const driver = new LocalBashFleetDriver({
    inventory,
    ...(environment !== undefined && { environment }),
  })
  const clock = new ManualClock(Date.now() + laterMs)
  return { fleet: new Fleet({ store, drivers: [driver], environment: 'test', clock }), store }
}

describe('workspaces of local bash', { timeout: 120_000 }, () => {
  test('one in use is left alone, one whose owner was killed is ended with its processes', async () => {
    const used = await openElsewhere()
    const left = await openElsewhere()
    await kill(left.owner)
    expect(runs(left.pid)).toBe(true)
    const { fleet, store } = openFleet(HOUR_MS, 'test')
    const { items } = await fleet.reconcile()
    const outcomes = Object.fromEntries(items.map(({ id, outcome }) => [id, outcome]))
    expect(outcomes).toEqual({ [used.id]: 'adopted', [left.id]: 'destroyed' })
    expect([existsSync(join(root, left.id)), runs(left.pid)]).toEqual([false, false])
    expect([existsSync(join(root, used.id)), runs(used.pid)]).toEqual([true, true])
    expect(await store.get(left.id)).toMatchObject({
      status: 'terminated',
      kill: { reason: 'orphan' },
    })
  })

  test('one made just now, or without the label of the deployment, is not ended', async () => {
    const left = await openElsewhere()
    await kill(left.owner)
    expect((await openFleet(0, 'test').fleet.reconcile()).items).toMatchObject([
      { outcome: 'adopted' },
    ])
    expect((await openFleet(HOUR_MS).fleet.reconcile()).items).toEqual([])
    expect(runs(left.pid)).toBe(true)
  })

  test('a busy loop shows in what it uses, and an operator ends it although its owner runs', async () => {
    const { id, pid } = await openElsewhere('while :; do :; done')
    const { fleet } = openFleet(0, 'test')
    await fleet.reconcile()
    // A busy machine may give the loop nothing for a while.
    const busy = async () => (await fleet.resources(id)).cpuPercent
    await expect.poll(busy, { timeout: 60_000 }).toBeGreaterThan(10)
    expect((await fleet.resources(id)).memoryMb).toBeGreaterThanOrEqual(0)
    expect(await fleet.terminate(id)).toBe('destroyed')
    expect([existsSync(join(root, id)), runs(pid)]).toEqual([false, false])
    expect(await fleet.terminate(id)).toBe('gone')
  })

  test('the logs are the ends of what its background processes wrote, also after its owner', async () => {
    const loud = `i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line-$i; done; echo done >&2; touch done; exec sleep 975`
    const { id, owner } = await openElsewhere(loud)
    const { fleet } = openFleet(0, 'test')
    await fleet.reconcile()
    await expect.poll(() => existsSync(join(root, id, 'root', 'done'))).toBe(true)
    await expect.poll(() => fleet.logs(id)).toContain('done\n')
    await kill(owner)
    const lines = (await fleet.logs(id)).split('\n')
    expect(lines).toContain('[background p1 stdout]')
    expect(lines).toContain('line-4000')
    expect(lines).not.toContain('line-1')
    expect(lines.filter((line) => line.startsWith('line-')).length).toBeGreaterThan(1000)
  })

  test('the logs of one show nothing from outside of its directory', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'helix-fleet-outside-'))
    writeFileSync(join(outside, 'p9.stdout'), 'precious')
    const { id, owner } = await openElsewhere()
    await kill(owner)
    const inventory = new LocalBashInventory({ tmpdirRoot: root })
    const driver = new LocalBashFleetDriver({ inventory })
    const scratch = join(root, id, 'scratch')
    symlinkSync(join(outside, 'p9.stdout'), join(scratch, 'background', 'p8.stdout'))
    symlinkSync(outside, join(root, id, 'root', '.helix'))
    execFileSync('mkfifo', [join(scratch, 'p7.stdout')])
    expect(await driver.logs({ id, generation: 1 })).toBe('')
    renameSync(join(scratch, 'background'), join(scratch, 'aside'))
    symlinkSync(outside, join(scratch, 'background'))
    for (const name of [id, '..', 'helix-ws-absent', `${id}/root`]) {
      expect(await driver.logs({ id: name, generation: 1 })).toBe('')
    }
    rmSync(outside, { recursive: true })
  })

  test('an inventory without logs says so', async () => {
    const inventory = new LocalBashInventory({ tmpdirRoot: root })
    const driver = new LocalBashFleetDriver({
      inventory: {
        list: () => inventory.list(),
        inspect: (name) => inventory.inspect(name),
        resources: (name) => inventory.resources(name),
        end: (name) => inventory.end(name),
      },
    })
    const failed = driver.logs({ id: 'helix-ws-1', generation: 1 })
    await expect(failed).rejects.toMatchObject({ code: 'not-supported' })
  })

  test('one that waits for its session is never ended as an orphan', async () => {
    const { id, owner } = await openElsewhere()
    await kill(owner)
    const marker = join(root, id, 'owner.json')
    const { process: _process, ...detached } = JSON.parse(readFileSync(marker, 'utf8')) as {
      process: object
    }
    writeFileSync(marker, JSON.stringify(detached))
    const { fleet, store } = openFleet(HOUR_MS, 'test')
    expect((await fleet.reconcile()).items).toMatchObject([{ id, outcome: 'adopted' }])
    expect((await store.get(id))?.lease).toMatchObject({ kind: 'detached' })
    expect(existsSync(join(root, id))).toBe(true)
  })

  test('neither a link nor a name ends anything outside of the directory', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'helix-fleet-outside-'))
    writeFileSync(join(outside, 'file'), 'precious')
    const { id, owner } = await openElsewhere()
    await kill(owner)
    writeFileSync(join(outside, 'owner.json'), readFileSync(join(root, id, 'owner.json')))
    symlinkSync(outside, join(root, 'helix-ws-forged1'))
    symlinkSync(outside, join(root, id, 'root', 'link'))
    const { fleet, store } = openFleet(HOUR_MS, 'test')
    const { items } = await fleet.reconcile()
    expect(items.map(({ id: one }) => one)).toEqual([id])
    const inventory = new LocalBashInventory({ tmpdirRoot: root })
    const driver = new LocalBashFleetDriver({ inventory })
    for (const name of ['..', '../helix-fleet-outside', `${id}/root`, '', 'helix-ws-forged1']) {
      await driver.terminate({ id: name, generation: 1 }).catch(() => undefined)
    }
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('precious')
    expect(await store.get('helix-ws-forged1')).toBeUndefined()
    rmSync(outside, { recursive: true })
  })

  test('a process that took the place of its directory by a link is no way out', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'helix-fleet-outside-'))
    writeFileSync(join(outside, 'file'), 'precious')
    const { id, owner } = await openElsewhere()
    await kill(owner)
    const path = join(root, id)
    const inventory = new LocalBashInventory({ tmpdirRoot: root })
    const ending = inventory.end(id).catch((error: unknown) => error)
    // It is being ended: as soon as its directory has its last name.
    while (!existsSync(`${path}.reaped`)) await new Promise((next) => setImmediate(next))
    renameSync(`${path}.reaped`, join(root, 'elsewhere'))
    symlinkSync(outside, `${path}.reaped`)
    expect(await ending).toMatchObject({ code: 'provider-failed' })
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('precious')
    rmSync(outside, { recursive: true })
  })

  test('a directory with a broken marker is never touched', async () => {
    const { id, owner } = await openElsewhere()
    await kill(owner)
    const marker = join(root, id, 'owner.json')
    const whole = readFileSync(marker)
    writeFileSync(marker, '{')
    const { fleet, store } = openFleet(HOUR_MS, 'test')
    expect((await fleet.reconcile()).items).toEqual([])
    expect(await store.get(id)).toBeUndefined()
    expect(existsSync(join(root, id))).toBe(true)
    writeFileSync(marker, whole)
  })
})

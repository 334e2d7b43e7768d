import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { reapLocalBashTmpdirs } from '@helix-agents/workspace-local-bash'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nest } from './deep-tree.ts'
import { TestHost } from './open-workspace.ts'

const HOUR_MS = 3_600_000
let host: TestHost
beforeEach(() => {
  host = new TestHost()
})
afterEach(() => host.dispose())

const at = (...names: readonly string[]): string => join(host.tmpdirRoot, ...names)

function reap() {
  const clock = new ManualClock(Date.now() + 2 * HOUR_MS)
  return reapLocalBashTmpdirs({ tmpdirRoot: host.tmpdirRoot, clock })
}

/** A workspace whose owner is dead, as its marker says. */
async function abandoned(): Promise<string> {
  const { ws } = await host.open()
  await ws.detach()
  const marker = JSON.parse(readFileSync(at(ws.id, 'owner.json'), 'utf8'))
  marker.process = { pid: 1, startTime: 1, bootId: 'of-another-start' }
  writeFileSync(at(ws.id, 'owner.json'), JSON.stringify(marker))
  return ws.id
}

/** A directory beside the workspaces that is closed, and a file in it. */
function plantOutside(): string {
  const outside = at('outside')
  mkdirSync(join(outside, 'closed'), { recursive: true })
  writeFileSync(join(outside, 'closed', 'kept'), 'kept')
  chmodSync(join(outside, 'closed'), 0o500)
  chmodSync(outside, 0o500)
  return outside
}

function expectUntouched(outside: string): void {
  const modes = [outside, join(outside, 'closed')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o500, 0o500])
  expect(readFileSync(join(outside, 'closed', 'kept'), 'utf8')).toBe('kept')
  // Else nobody but root could remove it after the test.
  for (const path of [outside, join(outside, 'closed')]) chmodSync(path, 0o700)
}

async function planted(): Promise<readonly [name: string, outside: string]> {
  const [name, outside] = [await abandoned(), plantOutside()]
  symlinkSync(outside, at(name, 'root', 'link'))
  symlinkSync(join(outside, 'closed'), at(name, 'link'))
  mkdirSync(at(name, 'root', 'a'))
  symlinkSync(outside, at(name, 'root', 'a', 'link'))
  chmodSync(at(name, 'root', 'a'), 0)
  return [name, outside]
}

describe('links that a dead workspace holds', () => {
  it('are removed by the reaper, and change no mode outside', async () => {
    const [name, outside] = await planted()
    expect(await reap()).toMatchObject({ removed: [name], failed: [] })
    expectUntouched(outside)
  })
  it('are removed by an inventory, and change no mode outside', async () => {
    const [name, outside] = await planted()
    await new LocalBashInventory({ tmpdirRoot: host.tmpdirRoot }).end(name)
    expect(existsSync(at(name))).toBe(false)
    expectUntouched(outside)
  })
  it('in the place of a part are removed as links', async () => {
    const [name, outside] = [await abandoned(), plantOutside()]
    renameSync(at(name, 'tmp'), at(name, 'was-tmp'))
    symlinkSync(outside, at(name, 'tmp'))
    expect(await reap()).toMatchObject({ removed: [name], failed: [] })
    expectUntouched(outside)
  })
})

describe('a tree deeper than a path can say', () => {
  const LONG_NAME = 'long-name-'.repeat(20)
  it('is removed by close', async () => {
    const { ws } = await host.open()
    nest(at(ws.id, 'root'), 60, LONG_NAME)
    await ws.close()
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
  it('is removed by the reaper', async () => {
    const name = await abandoned()
    nest(at(name, 'root'), 60, LONG_NAME)
    expect(await reap()).toMatchObject({ removed: [name], failed: [] })
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
})

/** A living workspace with a process, and beside it what was left of one of the same name. */
async function twins() {
  const { ws } = await host.open()
  await ws.shell.start('while :; do echo x >> beat; sleep 0.02; done')
  const beats = (): number =>
    statSync(at(ws.id, 'root', 'beat'), { throwIfNoEntry: false })?.size ?? 0
  await expect.poll(beats, { timeout: 60_000 }).toBeGreaterThan(0)
  const dead = await abandoned()
  renameSync(at(dead), at(`${ws.id}.reaped`))
  return { ws, beats }
}

describe('an interrupted removal beside a living workspace of the same name', () => {
  it('is reaped without ending the processes of the living one', async () => {
    const { ws, beats } = await twins()
    expect(await reap()).toMatchObject({ removed: [`${ws.id}.reaped`], live: [ws.id] })
    const before = beats()
    await expect.poll(beats, { timeout: 60_000 }).toBeGreaterThan(before)
  })
  it('is out of the way when an inventory ends the living one', async () => {
    const { ws } = await twins()
    await new LocalBashInventory({ tmpdirRoot: host.tmpdirRoot }).end(ws.id)
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
})

async function deadTwins() {
  const [dead, earlier] = [await abandoned(), await abandoned()]
  renameSync(at(earlier), at(`${dead}.reaped`))
  return { dead, earlier: `${dead}.reaped` }
}

describe('an interrupted removal beside a dead workspace of the same name', () => {
  it('is removed in the same pass', async () => {
    const { dead, earlier } = await deadTwins()
    expect(await reap()).toMatchObject({ removed: [earlier, dead], failed: [] })
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
  it('makes the other one wait while it cannot be removed', async () => {
    const { dead, earlier } = await deadTwins()
    const { ws } = await host.open()
    writeFileSync(at(earlier, 'owner.json'), readFileSync(at(ws.id, 'owner.json')))
    expect(await reap()).toMatchObject({ live: [earlier, ws.id], waiting: [dead], failed: [] })
  })
})

describe('names and markers that pose', () => {
  it('only exact names are workspaces', async () => {
    const names = [
      'helix-ws-',
      'helix-ws-abc',
      'helix-ws-abcdef.reaped.reaped',
      'helix-ws-abcdef.reaped~',
      'helix-ws-abcdef\n',
      'helix-ws-abc/..',
      'xhelix-ws-abcdef',
    ].filter((name) => !name.includes('/'))
    const dead = await abandoned()
    const marker = readFileSync(at(dead, 'owner.json'))
    for (const name of names) {
      mkdirSync(at(name, 'root'), { recursive: true })
      writeFileSync(at(name, 'owner.json'), marker)
    }
    expect(await reap()).toMatchObject({ removed: [dead], failed: [], foreign: [] })
    expect(readdirSync(host.tmpdirRoot).toSorted()).toEqual(names.toSorted())
    const inventory = new LocalBashInventory({ tmpdirRoot: host.tmpdirRoot })
    for (const name of [...names, '', '.', '..', '/', '../outside', 'helix-ws-abc/..'])
      await inventory.end(name)
    expect(readdirSync(host.tmpdirRoot).toSorted()).toEqual(names.toSorted())
  })
  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a link', (path: string) => symlinkSync('/dev/zero', path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a huge file', (path: string) => writeFileSync(path, ' '.repeat(1024 * 1024 + 1))],
    ['nested too deep', (path: string) => writeFileSync(path, '['.repeat(1_000_000))],
    ['empty', (path: string) => writeFileSync(path, '')],
    ['a prototype', (path: string) => writeFileSync(path, '{"__proto__":{"format":1}}')],
  ])('a marker that is %s makes it nobody’s', async (_what, plant) => {
    const name = await abandoned()
    writeFileSync(at(name, 'root', 'file'), 'x')
    renameSync(at(name, 'owner.json'), at('set-aside'))
    plant(at(name, 'owner.json'))
    expect(await reap()).toMatchObject({ removed: [], foreign: [name], failed: [] })
    expect(existsSync(at(name, 'root', 'file'))).toBe(true)
  })
  it('a marker that names the first process of the host is not that process', async () => {
    const name = await abandoned()
    const marker = JSON.parse(readFileSync(at(name, 'owner.json'), 'utf8'))
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    marker.process = { pid: 1, startTime: 999_999_999, bootId }
    writeFileSync(at(name, 'owner.json'), JSON.stringify(marker))
    expect(await reap()).toMatchObject({ removed: [name], live: [] })
  })
  it('times that are still to come do not keep it', async () => {
    const name = await abandoned()
    const marker = JSON.parse(readFileSync(at(name, 'owner.json'), 'utf8'))
    marker.sinceMs = Date.now() + 1000 * 24 * HOUR_MS
    writeFileSync(at(name, 'owner.json'), JSON.stringify(marker))
    for (const part of ['root', 'tmp', 'scratch'])
      utimesSync(at(name, part), new Date(), Date.now() / 1000 + 10_000_000)
    expect(await reap()).toMatchObject({ removed: [name], waiting: [] })
  })
})

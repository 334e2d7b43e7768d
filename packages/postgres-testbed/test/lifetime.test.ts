import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { reachableBinaries } from '../src/binaries.ts'
import { reapDirectories } from '../src/directory.ts'

/** No process of Linux has so high an id. */
const DEAD = 2 ** 22 + 1

test('a host that is killed takes its server and its folder along', async () => {
  const host = start('host.ts')
  const directory = await firstLine(host)
  const postmaster =
    readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0] ?? ''
  host.kill('SIGKILL')
  await expect.poll(() => existsSync(directory)).toBe(false)
  expect(existsSync(`/proc/${postmaster}`)).toBe(false)
})

test('a server that no one stops keeps no process running', async () => {
  const host = start('forgets.ts')
  const directory = decodeURIComponent(await firstLine(host))
  if (host.exitCode === null) await once(host, 'exit')
  expect(host.exitCode).toBe(0)
  await expect.poll(() => existsSync(directory)).toBe(false)
})

test('only folders of dead processes and of the own user go', () => {
  const parent = temporaryFolder()
  const at = (name: string): string => join(parent, name)
  for (const name of [`helix-pg-${DEAD}-a/deep`, `helix-pg-${process.pid}-a`, 'outside/deep']) {
    mkdirSync(at(name), { recursive: true })
  }
  symlinkSync(at('outside'), at(`helix-pg-${DEAD}-link`))
  const kept = [`helix-pg-${DEAD}-link`, `helix-pg-${process.pid}-a`, 'outside']
  if (process.getuid?.() === 0) {
    mkdirSync(at(`helix-pg-${DEAD}-theirs`))
    chownSync(at(`helix-pg-${DEAD}-theirs`), 12_345, 12_345)
    kept.push(`helix-pg-${DEAD}-theirs`)
  }
  reapDirectories(process.getuid?.(), parent)
  expect(readdirSync(parent).toSorted()).toEqual(kept.toSorted())
  expect(readdirSync(at('outside'))).toEqual(['deep'])
})

test('binaries below a closed folder are copied to where another user reaches them', () => {
  const parent = temporaryFolder()
  const bin = join(parent, 'native/bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'postgres'), '')
  const copies = join(parent, 'copies')
  chmodSync(parent, 0o700)
  expect(reachableBinaries(bin, copies)).toBe(join(copies, 'installation/bin'))
  expect(readdirSync(join(copies, 'installation/bin'))).toEqual(['postgres'])
  chmodSync(parent, 0o711)
  expect(reachableBinaries(bin, copies)).toBe(bin)
})

function start(fixture: string): ReturnType<typeof spawnHost> {
  const host = spawnHost(fixture)
  onTestFinished(() => void host.kill('SIGKILL'))
  return host
}

function spawnHost(fixture: string) {
  const file = join(import.meta.dirname, 'fixture', fixture)
  const args = ['--conditions=@helix-agents/source', file]
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DATABASE_URL: '' },
  })
}

async function firstLine(host: ReturnType<typeof spawnHost>): Promise<string> {
  const [line] = (await once(host.stdout, 'data')) as [Buffer]
  return line.toString().trim()
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'helix-lifetime-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

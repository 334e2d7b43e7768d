import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { reapDeadTestbeds } from '../src/testbed-directory.ts'
import { reasonToSkip } from './fixture/call.ts'

const skip = await reasonToSkip()

describe.skipIf(skip)('a host that is killed', () => {
  it('takes its containers along, and the next test bed removes its files', async () => {
    // A duration that no other process sleeps for.
    const seconds = `${100_000 + process.pid}`
    const host = join(import.meta.dirname, 'fixture/host.ts')
    const child = spawn(process.execPath, ['--conditions=@helix-agents/source', host, seconds], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(child.stdout, 'data')
    const container = Number(String(line))
    expect(existsSync(`/proc/${container}`)).toBe(true)
    await expect.poll(() => sleepers(seconds).length).toBeGreaterThan(0)
    const workerd = childrenOf(child.pid ?? 0)
    expect(orphanedWorkerd(workerd)).not.toEqual([])
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => existsSync(`/proc/${container}`), { timeout: 60_000 }).toBe(false)
    await expect.poll(() => sleepers(seconds), { timeout: 60_000 }).toEqual([])
    await expect.poll(() => orphanedWorkerd(workerd), { timeout: 60_000 }).toEqual([])
    await reapDeadTestbeds()
    const left = readdirSync(tmpdir()).filter((name) => name.includes(`testbed-${child.pid}-`))
    expect(left).toEqual([])
  }, 120_000)
})

/** Processes anywhere on this host that sleep for a duration. */
function sleepers(seconds: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8') === `sleep\0${seconds}\0`
    } catch {
      return false
    }
  })
}

function childrenOf(parent: number): string[] {
  return readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
}

/** Which of some processes are a workerd that still runs. */
function orphanedWorkerd(pids: readonly string[]): string[] {
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8').startsWith('Name:\tworkerd')
    } catch {
      return false
    }
  })
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { residentKb, ticksOf } from '../../src/operate/process-usage.ts'
import { useRoot } from './placed-workspace.ts'

const root = useRoot()
const NONE = 2 ** 30

describe('what processes use', () => {
  it('is time of the processors in both modes, as this process has it', () => {
    // None of both is little.
    while (process.cpuUsage().user < 100_000) Math.sqrt(process.pid)
    while (process.cpuUsage().system < 100_000) readFileSync('/proc/self/stat')
    const { user, system } = process.cpuUsage()
    const ticks = ticksOf([process.pid])
    expect(Math.abs(ticks - (user + system) / 10_000)).toBeLessThan(5)
    expect([ticksOf([]), ticksOf([NONE])]).toEqual([0, 0])
    expect(ticksOf([NONE, process.pid, NONE])).toBeGreaterThanOrEqual(ticks)
    expect(ticksOf([process.pid, process.pid])).toBeGreaterThanOrEqual(2 * ticks)
  })
  it('is memory, as this process has it', () => {
    const kb = residentKb([process.pid])
    expect(Math.abs(kb - process.memoryUsage.rss() / 1024)).toBeLessThan(kb / 10)
    expect([residentKb([]), residentKb([NONE])]).toEqual([0, 0])
    expect(residentKb([process.pid, NONE, process.pid])).toBeGreaterThan(1.8 * kb)
  })
  it('is told whatever the name of a process', async () => {
    const odd = join(root(), ') S 1 (x')
    symlinkSync('/bin/bash', odd)
    const child = spawn(odd, ['-c', 'echo; while :; do :; done'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const pids = [child.pid ?? NONE]
    expect(residentKb(pids)).toBeGreaterThan(500)
    await expect.poll(() => ticksOf(pids), { interval: 1 }).toBeGreaterThan(1)
    expect(ticksOf(pids)).toBeLessThan(1000)
  })
})

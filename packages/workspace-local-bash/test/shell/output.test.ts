import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HeadTail } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { TestHost, text } from '../open-workspace.ts'

let host: TestHost
let ws: LocalBashWorkspace
beforeEach(async () => {
  host = new TestHost()
  ws = (await host.open()).ws
})
afterEach(async () => host.dispose())

it('loses nothing of many commands at once, also while this process is busy', async () => {
  const runs = Array.from({ length: 100 }, (_, i) => ws.shell.run(`echo out-${i}`))
  const late = ws.shell.run('sleep 0.02; echo late')
  const freeAt = performance.now() + 500
  while (performance.now() < freeAt) Math.sqrt(freeAt)
  const outputs = (await Promise.all(runs)).map((result) => text(result.stdout))
  expect(outputs).toEqual(runs.map((_, i) => `out-${i}\n`))
  expect(text((await late).stdout)).toBe('late\n')
})

describe('outputs', () => {
  it('can be opened again by the command', async () => {
    const result = await ws.shell.run(
      'echo one; echo two > /dev/stdout; echo three | tee /dev/stderr; echo four',
    )
    expect(text(result.stdout)).toBe('one\ntwo\nthree\nfour\n')
    expect(text(result.stderr)).toBe('three\n')
  })
  it('over the budget are cut, stored whole and named', async () => {
    const result = await ws.shell.run('seq 1 100000; seq 1 9 >&2', { maxOutputBytes: 1000 })
    const whole = execFileSync('seq', ['1', '100000'])
    const { totalBytes, headBytes, path } = result.stdoutCut!
    expect([totalBytes, headBytes, result.stdout.length]).toEqual([whole.length, 100, 1000])
    expect(text(result.stdout)).toBe(`${whole.subarray(0, 100)}${whole.subarray(-900)}`)
    expect(path).toMatch(/^\/\.helix\/output\/\w+\.stdout$/)
    expect(Buffer.from(await ws.fs.readFile(path!)).equals(whole)).toBe(true)
    expect(result.stderrCut).toBeUndefined()
  })
  it('over the disk limit are not stored, and nothing says they were', async () => {
    await host.dispose()
    host = new TestHost({ maxStoredOutputBytes: 50_000 })
    ws = (await host.open()).ws
    const { stdout, stdoutCut } = await ws.shell.run('seq 1 100000', { maxOutputBytes: 1000 })
    expect([stdout.length, stdoutCut]).toEqual([1000, { totalBytes: 588_895, headBytes: 100 }])
    expect(await ws.fs.ls('/')).toEqual([])
  })
  it('a budget of nothing returns nothing but the count', async () => {
    const { stdout, stdoutCut } = await ws.shell.run('echo x', { maxOutputBytes: 0 })
    expect([stdout.length, stdoutCut?.totalBytes, stdoutCut?.headBytes]).toEqual([0, 2, 0])
  })
  it('slow callbacks slow the command down', async () => {
    let ahead = 0
    const result = await ws.shell.run(
      'for i in $(seq 40); do head -c 65536 /dev/zero; echo $i > n; done',
      {
        onStdout: async () => {
          await new Promise((resolve) => setTimeout(resolve, 3))
          ahead = Math.max(
            ahead,
            Number(text(await ws.fs.readFile('/n').catch(() => new Uint8Array()))),
          )
        },
        maxOutputBytes: 10_000_000,
      },
    )
    expect([result.stdout.length, result.exitCode]).toEqual([40 * 65_536, 0])
    expect(ahead).toBeGreaterThan(0)
  })
  it('callbacks may keep their pieces', async () => {
    const pieces: Uint8Array[] = []
    const result = await ws.shell.run('seq 1 50000', {
      onStdout: async (piece) => void pieces.push(piece),
    })
    expect(Buffer.concat(pieces).equals(result.stdout)).toBe(true)
  })
  it('of a background process are kept up to the limit', async () => {
    await host.dispose()
    host = new TestHost({ maxStoredOutputBytes: 1000 })
    ws = (await host.open()).ws
    const { id } = await ws.shell.start('seq 1 100000; echo end >&2; sleep 60')
    while ((await ws.shell.output(id)).nextStderrOffset === 0) await nextTurn()
    const { stdout } = await ws.shell.output(id)
    expect([stdout.length, text(stdout).slice(0, 6)]).toEqual([1000, '1\n2\n3\n'])
    await ws.shell.kill(id)
  })
})

describe('head and tail', () => {
  it('are those of the whole, however it arrives', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 })
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 120 }), (given, limit) => {
        const kept = new HeadTail(limit)
        for (const piece of given) kept.add(piece)
        const whole = Buffer.concat(given)
        const { bytes, cut } = kept.result()
        const headBytes = Math.floor(limit * 0.1)
        const tail = whole.subarray(whole.length - (limit - headBytes))
        const expected =
          whole.length <= limit ? whole : Buffer.concat([whole.subarray(0, headBytes), tail])
        expect(Buffer.from(bytes).equals(expected)).toBe(true)
        expect(cut).toEqual(
          whole.length <= limit ? undefined : { totalBytes: whole.length, headBytes },
        )
      }),
      { numRuns: 2000 },
    )
  })
})

const sampler = new TestSampler()
const PRINTED_BYTES = sampler.size(1024, 192) * 1024 * 1024

/** Runs a command that prints without an end in a process of its own; reports its memory. */
const SCRIPT = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const provider = new LocalBashWorkspaceProvider({ tmpdirRoot: process.argv[1] })
const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock }
const { ws } = await provider.open({ kind: 'local-bash' }, { sessionId: 's', agentType: 'a' }, options)
await ws.shell.run('seq 1 1000000')
let peak = 0
const baseline = process.memoryUsage.rss()
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 10)
const startMs = performance.now()
const result = await ws.shell.run('printf head; head -c ${PRINTED_BYTES} /dev/zero; printf tail',
  { timeoutMs: 60000 })
clearInterval(timer)
const { size } = await ws.fs.stat(result.stdoutCut.path)
const text = (bytes) => Buffer.from(bytes).toString('latin1')
console.log(JSON.stringify({ growth: peak - baseline, ms: performance.now() - startMs, size,
  total: result.stdoutCut.totalBytes, head: text(result.stdout.subarray(0, 5)),
  tail: text(result.stdout.subarray(-5)), exitCode: result.exitCode }))
await ws.close()
`

it('an output that is far larger costs less than 64 MiB of memory and is stored whole', () => {
  const args = ['--conditions=@helix-agents/source', '--input-type=module', '-e', SCRIPT]
  const cwd = join(import.meta.dirname, '../..')
  const report = JSON.parse(
    execFileSync(process.execPath, [...args, host.tmpdirRoot], { cwd, encoding: 'utf8' }),
  )
  const total = PRINTED_BYTES + 8
  expect(report).toMatchObject({ size: total, total, head: 'head\0', tail: '\0tail', exitCode: 0 })
  expect(report.growth).toBeLessThan(64 * 1024 * 1024)
}, 120_000)

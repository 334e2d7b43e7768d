import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TestSampler } from '@helix-agents/core/testing'
import { createNodeWorkHost, measureLeastHold } from '@helix-agents/workspace-conformance/bounds'
import { afterEach, describe, expect, it } from 'vitest'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'
import { TestHost, text } from '../open-workspace.ts'

/** The goal is 50. A turn measures up to twice its time while other programs share the core. */
const MAX_HOLD_MS = 100
const sampler = new TestSampler()
/** Commands at once. */
const COMMANDS = sampler.size(500, 60)
const FLOOD_BYTES = 20_000_000

const measure = <T>(run: () => Promise<T>) =>
  measureLeastHold(createNodeWorkHost(process), MAX_HOLD_MS, run)

let host: TestHost
afterEach(async () => host.dispose())

const { namespace } = await probeNamespace()

describe.each(namespace === undefined ? ['scan'] : ['namespace', 'scan'])('%s', (containment) => {
  it('many commands at once leave everybody a turn', async () => {
    host = new TestHost({ containment: containment === 'scan' ? 'scan' : 'namespace' })
    const opened = await Promise.all(Array.from({ length: 10 }, () => host.open()))
    const shells = opened.map(({ ws }) => ws.shell)
    const ids = Array.from({ length: COMMANDS }, (_, i) => i)
    await shells[0]?.run('true')
    const { cost, outcome } = await measure(() =>
      Promise.all(
        ids.map(async (id) => {
          const result = await shells[id % shells.length]?.run(`echo ${id}`)
          return result && text(result.stdout)
        }),
      ),
    )
    expect(outcome).toMatchObject({ value: ids.map((id) => `${id}\n`) })
    expect(cost.holdMs).toBeLessThan(MAX_HOLD_MS)
  }, 120_000)
})

it.each([
  ['zeros', `head -c ${FLOOD_BYTES} /dev/zero`],
  ['one line', `head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' x`],
  ['on both outputs', `yes 0123456789 | head -c ${FLOOD_BYTES} | tee /dev/stderr`],
])(
  'a flood leaves everybody a turn and stays within its limit: %s',
  async (_, command) => {
    host = new TestHost()
    const { ws } = await host.open()
    await ws.shell.run('echo warm')
    const { cost, outcome } = await measure(() =>
      ws.shell.run(command, { maxOutputBytes: 100_000 }),
    )
    expect(outcome).toMatchObject({
      value: { exitCode: 0, stdoutCut: { totalBytes: FLOOD_BYTES } },
    })
    expect(cost.holdMs).toBeLessThan(MAX_HOLD_MS)
    expect(cost.peakBytes).toBeLessThan(64 * 1024 * 1024)
  },
  120_000,
)

it('no more commands run at once than the option says', async () => {
  host = new TestHost({ maxConcurrentCommands: 2 })
  const { ws } = await host.open()
  const command = 'printf + >> log; sleep 0.02; printf -- - >> log'
  await Promise.all(Array.from({ length: 8 }, () => ws.shell.run(command)))
  const log = readFileSync(join(host.tmpdirRoot, ws.id, 'root', 'log'), 'utf8')
  let [running, most] = [0, 0]
  for (const sign of log) {
    running += sign === '+' ? 1 : -1
    most = Math.max(most, running)
  }
  expect([log.length, running]).toEqual([16, 0])
  expect(most).toBeLessThanOrEqual(2)
})

it('a command that waits for its turn has all its time, and hears an abort and a close', async () => {
  host = new TestHost({ maxConcurrentCommands: 1, killGraceMs: 50 })
  const { ws } = await host.open()
  const first = ws.shell.run('sleep 977', { timeoutMs: 600 })
  const second = ws.shell.run('echo ran', { timeoutMs: 20_000 })
  expect((await first).timedOut).toBe(true)
  expect(text((await second).stdout)).toBe('ran\n')
  const controller = new AbortController()
  const third = ws.shell.run('sleep 977')
  const fourth = ws.shell.run('echo never', { signal: controller.signal })
  const fifth = ws.shell.run('echo never')
  await nextTurn()
  controller.abort(new Error('stopped'))
  await expect(fourth).rejects.toThrow('stopped')
  const closing = ws.close()
  await expect(fifth).rejects.toMatchObject({ code: 'closed' })
  // It had started or not: both end it.
  const [end] = await Promise.allSettled([third])
  expect(end.status === 'rejected' || end.value.exitCode !== 0).toBe(true)
  await closing
}, 120_000)

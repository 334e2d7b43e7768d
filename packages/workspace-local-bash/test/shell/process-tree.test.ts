import { readdirSync, readFileSync } from 'node:fs'
import type { Containment } from '@helix-agents/core/provider'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'
import { findMembers } from '../../src/shell/processes/process-tree.ts'
import { allPids, readProcess } from '../../src/shell/processes/process-table.ts'
import { TestHost, text } from '../open-workspace.ts'

/** How long what is left behind sleeps: no other run of these tests has the same. */
const SECONDS = String(1_000_000 + process.pid)
/** Far from that, and enough on a busy machine. */
const SOON_MS = 60_000

const sampler = new TestSampler()
/** Of the ways to outlive a command, those that a sample takes. */
const SAMPLED = 4

let host: TestHost
let ws: LocalBashWorkspace

/** Living processes of the workspace, by their marker. */
function members(): readonly number[] {
  return findMembers({ marker: `${ws.id}:`, places: [] })
}

/** Ways to outlive a command; each leaves a sleeping process behind. */
const ESCAPES: Readonly<Record<string, string>> = {
  child: `sleep ${SECONDS} &`,
  nohup: `nohup sleep ${SECONDS} >/dev/null 2>&1 &`,
  disowned: `sleep ${SECONDS} & disown`,
  'double fork': `( ( sleep ${SECONDS} & ) & )`,
  session: `setsid sleep ${SECONDS} >/dev/null 2>&1 &`,
  'session of a double fork': `( setsid nohup sleep ${SECONDS} </dev/null >/dev/null 2>&1 & )`,
  'without its own output': `setsid sleep ${SECONDS} >&- 2>&- &`,
  'holds the output': `setsid sleep ${SECONDS} &`,
  'clears its environment': `env -i setsid sleep ${SECONDS} &`,
  'clears it in the session': `env -i sleep ${SECONDS} >/dev/null 2>&1 &`,
  'ignores signals': `setsid bash -c 'trap "" TERM INT HUP QUIT; sleep ${SECONDS} & wait; sleep ${SECONDS}' &`,
  stopped: `setsid bash -c 'kill -STOP $$; sleep ${SECONDS}' &`,
  'hides in its directory': `setsid -f env -i sleep ${SECONDS} >/dev/null 2>&1`,
  'many generations': `f() { [ $1 -gt 0 ] && ( f $(($1-1)) & ) || sleep ${SECONDS}; }; f 12`,
}

/** Processes of the host that sleep for the telling time. */
function sleepers(): number[] {
  return allPids().filter((pid) => {
    const state = readProcess(pid)?.state
    return (
      state !== undefined && state !== 'Z' && commandOf(pid).startsWith(`sleep\u0000${SECONDS}`)
    )
  })
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}

const { namespace } = await probeNamespace()
const found: readonly Containment[] = namespace === undefined ? ['scan'] : ['namespace', 'scan']

describe.each(found)('with containment %s', (containment) => {
  beforeEach(async () => {
    host = new TestHost({ killGraceMs: 100, containment })
    ws = (await host.open()).ws
  })
  afterEach(async () => host.dispose())

  describe.each(sampler.pick(`escapes ${containment}`, Object.entries(ESCAPES), SAMPLED))(
    'what a command leaves: %s',
    (_, command) => {
      it('is gone when the command ended by itself, which it does at once', async () => {
        const before = performance.now()
        const result = await ws.shell.run(`${command}\necho done`)
        expect([text(result.stdout), result.exitCode]).toEqual(['done\n', 0])
        expect(performance.now() - before).toBeLessThan(SOON_MS)
        expect([members(), sleepers()]).toEqual([[], []])
      })
      it('is gone after a timeout', async () => {
        const clock = new ManualClock(Date.now())
        await host.dispose()
        host = new TestHost({ killGraceMs: 100, containment, clock })
        ws = (await host.open()).ws
        const result = await ws.shell.run(`${command}\necho begun; sleep ${SECONDS}`, {
          timeoutMs: 60_000,
          onStdout: () => clock.advance(60_000),
        })
        expect([text(result.stdout), result.exitCode, result.timedOut]).toEqual([
          'begun\n',
          124,
          true,
        ])
        expect(result.durationMs).toBeLessThan(SOON_MS)
        expect([members(), sleepers()]).toEqual([[], []])
      })
    },
  )

  it('what changes its program again and again is seen in between', async () => {
    // Nothing tells whose it is while a new program is set up.
    const command = `( ${'setsid env -u NONE '.repeat(20)} sleep ${SECONDS} >/dev/null 2>&1 & )`
    for (let run = 0; run < sampler.size(40, 8); run += 1) {
      await ws.shell.run(command)
      expect([members(), sleepers()]).toEqual([[], []])
    }
  }, 120_000)

  it('what start started lives on, and dies with kill, detach or close', async () => {
    const one = await ws.shell.start(`setsid sleep ${SECONDS} & sleep ${SECONDS}`)
    const two = await ws.shell.start(['sleep', SECONDS])
    await expect.poll(() => sleepers().length).toBe(3)
    await ws.shell.run('echo other')
    expect(sleepers().length).toBe(3)
    await ws.shell.kill(two.id)
    expect(sleepers().length).toBe(2)
    expect((await ws.shell.list()).map(({ id, state }) => [id, state])).toEqual([
      [one.id, 'running'],
      [two.id, 'exited'],
    ])
    await ws.detach()
    expect(sleepers()).toEqual([])
  })

  it('close ends a running command', async () => {
    const running = ws.shell.run(`setsid sleep ${SECONDS} & sleep ${SECONDS}`)
    await expect.poll(() => sleepers().length).toBe(2)
    await ws.close()
    expect((await running).exitCode).not.toBe(0)
    expect(sleepers()).toEqual([])
    await expect(ws.shell.run('true')).rejects.toMatchObject({ code: 'closed' })
  })

  it('an abort keeps the output, and ends the tree', async () => {
    await host.dispose()
    // On a busy machine the shell may take a while to obey: nothing else ends it meanwhile.
    host = new TestHost({ killGraceMs: 60_000, containment })
    ws = (await host.open()).ws
    const controller = new AbortController()
    const result = await ws.shell.run(`echo begun; setsid sleep ${SECONDS} & sleep ${SECONDS}`, {
      signal: controller.signal,
      onStdout: async () => controller.abort(),
    })
    expect([text(result.stdout), result.timedOut, result.exitCode]).toEqual(['begun\n', false, 143])
    expect(sleepers()).toEqual([])
  })

  it('a command with a hanging callback still ends at its deadline', async () => {
    const before = performance.now()
    const result = await ws.shell.run(`echo x; sleep ${SECONDS}`, {
      timeoutMs: 200,
      onStdout: () => new Promise(() => undefined),
    })
    expect(result.timedOut).toBe(true)
    expect(performance.now() - before).toBeLessThan(SOON_MS)
  })

  it('many timeouts leave no zombie, no descriptor and no process', async () => {
    await ws.shell.run('true')
    const before = descriptors()
    for (let batch = 0; batch < sampler.size(5, 1); batch += 1) {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          ws.shell.run(`sleep ${SECONDS} & setsid sleep ${SECONDS} & wait`, { timeoutMs: 20 }),
        ),
      )
    }
    const children = allPids().filter((pid) => readProcess(pid)?.parent === process.pid)
    expect(children.filter((pid) => readProcess(pid)?.state === 'Z')).toEqual([])
    expect([members(), sleepers()]).toEqual([[], []])
    expect(descriptors()).toBeLessThanOrEqual(before + 2)
  }, 180_000)
})

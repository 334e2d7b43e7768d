import { type ChildProcess, spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Containment, logMessages } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from '../../src/shell/find-program.ts'
import { initCommand } from '../../src/shell/namespace/namespace-init.ts'
import { processLimits } from '../../src/shell/namespace/process-limit.ts'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'
import { allPids, readProcess } from '../../src/shell/processes/process-table.ts'
import { type LocalBashWorkspace } from '../../src/local-bash-workspace.ts'
import { TestHost, text } from '../open-workspace.ts'

const SECRET = 'sk-of-a-bystander-7731'
const OWN_NAMESPACE = readlinkSync('/proc/self/ns/pid')
/** In front of what would hurt the machine outside of a namespace. */
const GUARD = `[ "$(readlink /proc/self/ns/pid)" != "${OWN_NAMESPACE}" ] || exit 9; `
const EVERY_ENVIRONMENT = 'cat /proc/[0-9]*/environ /proc/$PPID/environ 2>/dev/null'

/** A process of the same user that holds a secret, as the host process does. */
let bystander: ChildProcess
beforeAll(() => {
  bystander = spawn('sleep', ['977'], { env: { SECRET }, stdio: 'ignore' })
})
afterAll(() => void bystander.kill('SIGKILL'))

let host: TestHost
let ws: LocalBashWorkspace
let clock: ManualClock
afterEach(async () => host.dispose())
const open = async (options: ConstructorParameters<typeof TestHost>[0]): Promise<void> => {
  clock = new ManualClock(Date.now())
  host = new TestHost({ killGraceMs: 50, clock, ...options })
  ws = (await host.open()).ws
}
/** The time of a command passes when it has printed: so it has begun, however busy the machine. */
const untilPrinted = (output: 'onStdout' | 'onStderr' = 'onStdout') => ({
  timeoutMs: 60_000,
  [output]: () => clock.advance(60_000),
})
const run = async (command: string | readonly string[], env: Record<string, string> = {}) => {
  const { stdout, stderr, exitCode } = await ws.shell.run(command, { env })
  return { stdout: text(stdout), stderr: text(stderr), exitCode }
}

const probed = (await probeNamespace()).namespace
const hasNamespace = probed !== undefined
/** Root has no limit in bubblewrap. */
const hasLimit = probed?.limit !== undefined
const hasBubblewrap = findProgram('bwrap') !== undefined
const namespaces = [
  ['namespace', hasNamespace, { containment: 'namespace' }],
  ['bubblewrap', hasBubblewrap, { isolation: 'bubblewrap' }],
] as const

for (const [name, isThere, options] of namespaces) {
  const title = isThere ? name : `${name} (skipped: the host has none)`
  describe.skipIf(!isThere)(`commands in a namespace: ${title}`, () => {
    behave(options)
  })
}

it.skipIf(!hasBubblewrap)('commands in bubblewrap change no setting of the kernel', async () => {
  await open({ isolation: 'bubblewrap' })
  // Of root the permissions alone ask nothing. Whether it could be written is asked, never tried.
  const { stdout } = await run(
    'find /proc/sys -type f -writable 2>/dev/null | head -n 3; test -w /proc/sysrq-trigger && echo sysrq; grep -c " /proc/sys ro" /proc/self/mountinfo',
  )
  expect(stdout).toBe('1\n')
})

function behave(options: NonNullable<ConstructorParameters<typeof TestHost>[0]>): void {
  beforeEach(() => open(options))

  it('see no process of the host', async () => {
    expect(ws.containment).toBe('namespace')
    const { stdout } = await run(
      `${EVERY_ENVIRONMENT}; echo; ls /proc | grep -c "^[0-9]"; echo $PPID`,
    )
    expect(stdout).not.toContain(SECRET)
    expect(stdout).toContain('PATH=')
    const [count, parent] = stdout.trim().split('\n').slice(-2).map(Number)
    expect(count).toBeLessThan(7)
    expect(parent).toBe(1)
  })
  it('cannot bring the /proc of the host back', async () => {
    const seen = 'ls /proc | grep -c "^[0-9]"'
    const line = `${GUARD}umount /proc; umount -l /proc; ${seen}; unshare -Urm sh -c 'umount /proc; umount -l /proc; ${seen}'`
    const { stdout } = await run(line)
    for (const count of stdout.trim().split('\n')) expect(Number(count)).toBeLessThan(10)
  })
  it('reach no process of the host with a signal', async () => {
    const line = `${GUARD}sleep 977 & kill -9 ${bystander.pid} ${process.pid}; kill -9 $PPID; kill -9 -1; echo alive`
    const { stdout, exitCode } = await run(line)
    expect([stdout, exitCode]).toEqual(['alive\n', 0])
    expect(readProcess(bystander.pid ?? 0)?.state).toBe('S')
  })
  it('leave nothing, whatever they do to hide it', async () => {
    const line = `${GUARD}cd /; setsid -f env -i sleep 978 </dev/null >/dev/null 2>&1; readlink /proc/self/ns/pid`
    const { stdout } = await run(line)
    expect(stdout).toMatch(/^pid:\[\d+\]\n$/)
    expect(processesIn(stdout.trim())).toEqual([])
    const late = await ws.shell.run(`${line}; sleep 978`, untilPrinted())
    expect(late.timedOut).toBe(true)
    expect(text(late.stdout)).toMatch(/^pid:\[\d+\]\n$/)
    expect(processesIn(text(late.stdout).trim())).toEqual([])
  })
  it('put no code into what sets the namespace up', async () => {
    // The loader says so in each program that is started with it.
    const { stderr } = await run(['/bin/true'], { LD_PRELOAD: '/missing/hook.so' })
    expect(stderr.split('\n').filter((line) => line.includes('hook.so')).length).toBe(1)
  })
  it('get variables, arguments and exit codes as they are', async () => {
    const odd = `a 'b' "c" $D \`e\` \\ \n é`
    const env = { ODD: odd, PS4: '$(echo x)', PPID: '7', OPTIND: 'x', IFS: '/', 'A.B': 'dot' }
    const { stdout } = await run('printf %s "$ODD"', env)
    expect(stdout).toBe(odd)
    expect((await run(['printf', '%s|', odd, '', '-x', '--'])).stdout).toBe(`${odd}||-x|--|`)
    expect(await run('kill -SEGV $$')).toEqual({ stdout: '', stderr: '', exitCode: 139 })
    expect((await run(['sh', '-c', 'exit 41'])).exitCode).toBe(41)
    // Names of what a shell does itself are programs, or nothing.
    expect((await run(['exit', '3'])).exitCode).toBe(127)
    expect((await run(['eval', 'echo x'])).stdout).toBe('')
  })
  it('write nothing but their own output, also when they are killed', async () => {
    const line = 'trap "" TERM; echo out; echo err >&2; sleep 977'
    const killed = await ws.shell.run(line, untilPrinted('onStderr'))
    expect([text(killed.stdout), text(killed.stderr)]).toEqual(['out\n', 'err\n'])
    const { id } = await ws.shell.start('trap "" TERM; echo out; sleep 977')
    while ((await ws.shell.output(id)).nextStdoutOffset === 0) await nextTurn()
    await ws.shell.kill(id)
    const { stderr, process } = await ws.shell.output(id)
    expect([text(stderr), process.exitCode]).toEqual(['', 137])
  })
  it('are asked to end before they are killed, and go on to nothing', async () => {
    await host.dispose()
    // Who is not asked is killed only after that, and the test with it.
    await open({ ...options, killGraceMs: 600_000 })
    // Without a child: a signal that comes while bash makes one is lost on it.
    const line = 'trap "echo asked; exit" TERM; echo begun; while :; do :; done'
    const asked = await ws.shell.run(line, untilPrinted())
    expect([text(asked.stdout), asked.exitCode]).toEqual(['begun\nasked\n', 124])
    const last = await ws.shell.run('echo begun; sleep 977; echo never', untilPrinted())
    expect([text(last.stdout), last.timedOut]).toEqual(['begun\n', true])
  })
}

/** Ids of the living processes in a namespace. */
function processesIn(namespace: string): number[] {
  const inIt = (pid: number): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`) === namespace && readProcess(pid)?.state !== 'Z'
    } catch {
      return false
    }
  }
  return allPids().filter(inIt)
}

describe.skipIf(!hasLimit)('a limit of processes', () => {
  const MAX = 301
  /** More than are allowed, with an end: none of them starts another one. */
  const many = `${GUARD}i=0; while [ $i -lt 320 ]; do sleep 979 & i=$((i+1)); done 2>/dev/null; echo all`

  it('ends what starts too many, which nothing outlives', async () => {
    await open({ containment: 'namespace', maxProcesses: MAX })
    expect(ws.maxProcesses).toBe(MAX)
    const { stdout, exitCode } = await run(['sh', '-c', `readlink /proc/self/ns/pid; ${many}`])
    const [inside = '', all] = stdout.trim().split('\n')
    expect(exitCode).not.toBe(0)
    expect(all).toBeUndefined()
    expect(processesIn(inside)).toEqual([])
    expect((await run('echo next')).stdout).toBe('next\n')
  }, 120_000)
  it('is none where the processes are those of the host', async () => {
    await open({ containment: 'scan' })
    expect(ws.maxProcesses).toBeUndefined()
  })
  it('is refused when the system would not take it', () => {
    expect(() => new TestHost({ maxProcesses: 300 })).toThrow('301 or more')
  })
})

const lines = (isRoot: boolean, kernel: string): string[] =>
  processLimits(isRoot, kernel).map((limit) => limit(512))

it('processes are limited only where the system counts those of a namespace', () => {
  expect(lines(true, '6.13.99-generic')).toEqual([])
  expect(lines(true, '6.14.0')).toEqual(['echo 512 > /proc/sys/kernel/pid_max'])
  expect(lines(true, '10.0')).toHaveLength(1)
  expect(lines(false, '5.13.9')).toEqual([])
  expect(lines(false, '5.14.0-427.el9')).toEqual(['ulimit -u 512 || ulimit -p 512'])
  expect(lines(false, 'odd')).toEqual([])
})

describe('commands that are found among the processes of the host', () => {
  beforeEach(() => open({ containment: 'scan' }))

  it('see those, which the log and the workspace say', async () => {
    expect([ws.isolation, ws.containment]).toEqual(['none', 'scan'])
    const [line] = host.logger.with(logMessages.noIsolation)
    expect(line?.fields).toMatchObject({ isolation: 'none', containment: 'scan' })
    expect((await run(`cat /proc/${bystander.pid}/environ`)).stdout).toContain(SECRET)
  })
  it('are asked all at once', async () => {
    const last = await ws.shell.run('echo begun; sleep 977; echo never', untilPrinted())
    expect([text(last.stdout), last.timedOut]).toEqual(['begun\n', true])
  })
})

it('the log says once which containment is in force by default', async () => {
  await open({})
  const expected: Containment = hasNamespace ? 'namespace' : 'scan'
  expect(ws.containment).toBe(expected)
  const logged = host.logger.with(logMessages.noIsolation)
  expect(logged.map(({ fields }) => fields.containment)).toEqual([expected])
})

it('a first process gets no variable of the command under its own name', () => {
  const env = { LD_PRELOAD: 'x', PATH: '/bin', HELIX_WS_PROCESS: 'm', SHELLOPTS: 'xtrace' }
  const init = initCommand(['ls'], env)
  expect(init.env).toEqual({ HELIX_WS_0_: 'x', HELIX_WS_1_: '/bin', HELIX_WS_PROCESS: 'm' })
  expect(init.args.slice(-2)).toEqual(['init', 'ls'])
})

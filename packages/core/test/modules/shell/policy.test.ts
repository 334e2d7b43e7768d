import { expect, test } from 'vitest'
import type { PolicyRejection } from '../../../src/modules/define-module.ts'
import { shellConfigSchema, type ShellConfigInput } from '../../../src/modules/shell/config.ts'
import type {
  RunResult,
  Shell,
  ShellCommand,
  ShellRunOptions,
} from '../../../src/modules/shell/contract.ts'
import { withShellPolicy } from '../../../src/modules/shell/policy.ts'

const result: RunResult = {
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  exitCode: 0,
  durationMs: 0,
  timedOut: false,
}
const process = { id: 'p1', command: 'ls', state: 'running', startedAt: new Date(0) } as const

class RecordingShell implements Shell {
  readonly calls: (readonly [ShellCommand, ShellRunOptions | undefined])[] = []
  async run(command: ShellCommand, options?: ShellRunOptions): Promise<RunResult> {
    this.calls.push([command, options])
    return result
  }
  async start(command: ShellCommand, options?: ShellRunOptions): Promise<typeof process> {
    this.calls.push([command, options])
    return process
  }
  async list(): Promise<readonly (typeof process)[]> {
    return this.calls.map(() => process)
  }
}

function guard(config: ShellConfigInput, shell: Shell = new RecordingShell()) {
  const audits: PolicyRejection[] = []
  const context = {
    workspace: 'box',
    audit: (rejection: PolicyRejection) => void audits.push(rejection),
  }
  return { audits, guarded: withShellPolicy(shell, shellConfigSchema.parse(config), context) }
}

test.each([
  [undefined, 120_000],
  [5, 5],
  [600_000, 600_000],
  [600_001, 600_000],
  [Number.MAX_SAFE_INTEGER, 600_000],
])('a command that asks for %s ms gets %s', async (timeoutMs, expected) => {
  const shell = new RecordingShell()
  const { guarded } = guard({}, shell)
  await guarded.run('ls', timeoutMs === undefined ? {} : { timeoutMs, cwd: '/a' })
  expect(shell.calls[0]![1]).toMatchObject({ timeoutMs: expected })
})

test('a default above the most is bounded too', async () => {
  const shell = new RecordingShell()
  await guard({ timeoutMs: 100, maxTimeoutMs: 50 }, shell).guarded.run('ls')
  expect(shell.calls[0]![1]).toMatchObject({ timeoutMs: 50 })
})

test('without an allowlist a line is passed on as it is, for a shell', async () => {
  const shell = new RecordingShell()
  await guard({}, shell).guarded.run('a | b; $(c)', { env: { A: 'b' } })
  expect(shell.calls[0]).toMatchObject(['a | b; $(c)', { env: { A: 'b' } }])
})

test('with one, run and start pass argument vectors on, and nothing else', async () => {
  const shell = new RecordingShell()
  const { guarded } = guard({ allowedCommands: ['ls'], background: true }, shell)
  await guarded.run("ls 'a b'")
  await guarded.start!('ls -l')
  expect(shell.calls.map(([command]) => command)).toEqual([
    ['ls', 'a b'],
    ['ls', '-l'],
  ])
})

test('a refused command does not reach the shell', async () => {
  const shell = new RecordingShell()
  const { guarded, audits } = guard({ allowedCommands: ['ls'], background: true }, shell)
  await expect(guarded.run('ls; id')).rejects.toMatchObject({ code: 'shell-metacharacter' })
  await expect(guarded.start!('ls *')).rejects.toMatchObject({ code: 'expansion' })
  await expect(guarded.start!('rm')).rejects.toMatchObject({ code: 'command-not-allowed' })
  expect(shell.calls).toEqual([])
  expect(audits).toHaveLength(3)
})

test('variables are refused next to an allowlist, as they are in front of a command', async () => {
  const shell = new RecordingShell()
  const { guarded, audits } = guard({ allowedCommands: ['ls'], background: true }, shell)
  const env = { LD_PRELOAD: '/x.so' }
  await expect(guarded.run('ls', { env })).rejects.toMatchObject({ code: 'shell-metacharacter' })
  await expect(guarded.start!('ls', { env })).rejects.toMatchObject({ code: 'shell-metacharacter' })
  await guarded.run('ls', { env: {} })
  expect(shell.calls).toHaveLength(1)
  expect(audits.map(({ key }) => key)).toEqual(['ls =', 'ls ='])
})

test('background processes are there only when they are declared and offered', async () => {
  expect(guard({}).guarded).not.toHaveProperty('start')
  const { guarded } = guard({ background: true })
  await guarded.start!('ls')
  expect(await guarded.list!()).toEqual([process])
  expect(guarded).not.toHaveProperty('kill')
  const plain = { run: async () => result }
  expect(guard({ background: true }, plain).guarded).not.toHaveProperty('start')
})

test.each([[[]], [['']], [['git status']], [['ls\n']], [[5]]])(
  'an allowlist of %j is a mistake of the definition',
  (allowedCommands) => {
    expect(shellConfigSchema.safeParse({ allowedCommands }).success).toBe(false)
  },
)

import { noopLogger, WorkspaceEvictedError } from '@helix-agents/core'
import type { EngineShell, FileSystem, RunResult } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { type JustBashShellOptions, justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem, InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterEach, describe, expect, test } from 'vitest'

let shell: EngineShell | undefined
afterEach(() => shell?.close())

function open(
  options: JustBashShellOptions = {},
  files: FileSystem = new InMemoryFileSystem({ versionPrefix: 'v' }),
): EngineShell {
  shell = justBashShell(options).open({ files, clock: new ManualClock(), logger: noopLogger })
  return shell
}

const textOf = ({ stdout, stderr, exitCode }: RunResult) => [
  new TextDecoder().decode(stdout),
  new TextDecoder().decode(stderr),
  exitCode,
]

describe('commands of the host', () => {
  test('get arguments, stdin, directory and exported variables; their output is that of any command', async () => {
    const seen: unknown[] = []
    const lookUp = {
      name: 'lookup',
      run: async ({ args, stdin, cwd, env }: Parameters<CommandRun>[0]) => {
        seen.push([args, new TextDecoder().decode(stdin), cwd, env.WHO])
        return { stdout: 'found\n', exitCode: 3 }
      },
    }
    const result = await open({ commands: [lookUp] }).run(
      'echo in | WHO=me lookup a "b c" | tr a-z A-Z; echo ${PIPESTATUS[1]}',
    )
    expect(textOf(result)).toEqual(['FOUND\n3\n', '', 0])
    expect(seen).toEqual([[['a', 'b c'], 'in\n', '/workspace', 'me']])
  })

  test('what one throws is its message on stderr; bytes stay bytes', async () => {
    const commands = [
      { name: 'broken', run: () => Promise.reject(new Error('no such customer')) },
      { name: 'bytes', run: async () => ({ stdout: Uint8Array.of(0, 255) }) },
    ]
    const broken = await open({ commands }).run('broken || echo next; bytes | wc -c')
    expect(textOf(broken)).toEqual(['next\n2\n', 'broken: no such customer\n', 0])
  })
})

type CommandRun = NonNullable<JustBashShellOptions['commands']>[number]['run']

test('env is added to every command, and a call adds to it', async () => {
  const result = await open({ env: { A: '1', B: '1' } }).run('echo $A$B$HOME', { env: { B: '2' } })
  expect(textOf(result)).toEqual(['12/workspace\n', '', 0])
})

test('without allowedUrls there is no curl; with them only these are fetched', async () => {
  expect(textOf(await open().run('curl http://127.0.0.1/'))).toEqual([
    '',
    'bash: curl: command not found (this shell has no network)\n',
    127,
  ])
  await shell?.close()
  const allowedUrls = ['https://example.invalid/api/']
  const { exitCode, stdout } = await open({ allowedUrls }).run('curl -s http://127.0.0.1:9/')
  expect([exitCode === 0, stdout.length]).toEqual([false, 0])
})

test('a missing program is told what can be done instead', async () => {
  const [stdout, stderr, exitCode] = textOf(await open().run('git status; command -v git'))
  expect([stdout, exitCode]).toEqual(['', 1])
  expect(stderr).toMatch(/^bash: git: command not found \(no git here; compare files with diff/)
})

test('defaultTimeoutMs ends a command that asks for no time', async () => {
  const clock = new ManualClock()
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  shell = justBashShell({ defaultTimeoutMs: 5000 }).open({ files, clock, logger: noopLogger })
  const onStdout = (): Promise<void> => clock.advance(5000)
  const result = await shell.run('echo begun; while :; do :; done', { onStdout })
  expect([...textOf(result), result.timedOut]).toEqual(['begun\n', '', 124, true])
})

test('maxTotalOutputBytes ends a command that writes more; maxOutputBytes keeps its ends', async () => {
  const options = { maxTotalOutputBytes: 10_000, maxOutputBytes: 100 }
  const result = await open(options).run('while :; do echo aaaaaaaaaaaaaaaa; done')
  expect(result.exitCode).toBe(153)
  expect(result.stdout.length).toBe(100)
  expect(new TextDecoder().decode(result.stderr)).toContain('more than 10000 bytes of output')
})

test('limits bound commands, loops, calls and texts', async () => {
  const limits = { maxCommands: 50, maxLoopIterations: 10, maxCallDepth: 5, maxStringBytes: 100 }
  const bounded = open({ limits })
  for (const line of [
    'for i in {1..100}; do :; done',
    'f() { f; }; f',
    'x=aaaaaaaaaa; x=$x$x$x$x$x$x$x$x$x$x$x; echo never',
    "awk 'BEGIN { while (i++ < 20) ; print i }'",
  ]) {
    const { exitCode, stdout } = await bounded.run(line)
    expect([line, exitCode === 0, stdout.length]).toEqual([line, false, 0])
  }
})

test('limits bound what a command holds in memory and how many names it visits', async () => {
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  for (let i = 0; i < 40; i += 1) await files.writeFile(`/f${i}`, 'x')
  const whole = await open({}, files).run('find . -type f | wc -l')
  expect(textOf(whole)[0]).toBe('40\n')
  await shell?.close()
  const bounded = open({ limits: { maxMemoryBytes: 2_000, maxVisitedFiles: 10 } }, files)
  for (const line of ['find . -type f | wc -l', 'seq 10000 | sort | tail -n 1']) {
    const { exitCode, stdout } = await bounded.run(line)
    expect([line, exitCode === 0, new TextDecoder().decode(stdout).trim()]).not.toEqual([
      line,
      true,
      line.startsWith('find') ? '40' : '9999',
    ])
  }
})

test('maxConcurrent commands run at once over all workspaces; the others wait in turn', async () => {
  let [active, most] = [0, 0]
  const wait = async () => {
    active += 1
    most = Math.max(most, active)
    await new Promise((resolve) => setImmediate(resolve))
    active -= 1
    return {}
  }
  const engine = justBashShell({ maxConcurrent: 1, commands: [{ name: 'pause', run: wait }] })
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  const shells = [1, 2].map(() =>
    engine.open({ files, clock: new ManualClock(), logger: noopLogger }),
  )
  await Promise.all(shells.flatMap((one) => [one.run('pause'), one.run('pause')]))
  await Promise.all(shells.map((one) => one.close()))
  expect(most).toBe(1)
})

test('files that go away end the command, and its outcome is unknown', async () => {
  const files = new InMemoryFileSystem({ versionPrefix: 'v' })
  files.readFile = () => Promise.reject(new WorkspaceEvictedError('gone', { admitted: 'no' }))
  const run = open({}, files).run('echo x > a; cat a; echo never > b')
  await expect(run).rejects.toMatchObject({ code: 'evicted', admitted: 'unknown' })
  await expect(files.stat('/b')).rejects.toMatchObject({ code: 'not-found' })
})

test('a closed shell runs nothing', async () => {
  const closed = open()
  await closed.close()
  await expect(closed.run('echo x')).rejects.toMatchObject({ code: 'closed' })
})

test('permissions and times of commands last from one to the next', async () => {
  const one = open()
  await one.run("printf 'echo ran' > s.sh; chmod +x s.sh; touch -d 2020-01-02 s.sh")
  expect(textOf(await one.run('./s.sh; stat -c %a s.sh; date -r s.sh +%Y'))[0]).toMatch(
    /^ran\n755\n/,
  )
})

test('the provider notes the engine for the model', () => {
  const { toolNotes } = new InMemoryWorkspaceProvider({ shell: justBashShell() })
  expect(toolNotes.shell).toMatch(/just-bash.*no git/)
})

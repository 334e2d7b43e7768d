import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { DriverCodeOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, SPILL, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const LIMITS = { cwd: '/workspace', maxOutputBytes: 64 * 1024, spillDirectory: SPILL }

const outcome = (result: StepResult | undefined): DriverCodeOutcome => valueOf(result)
const create = (language: string): Step => ({
  call: 'code.create',
  args: [language, { cwd: '/workspace' }],
})
/** Only what hangs comes here: on a busy machine an interpreter takes its time to start. */
const PATIENCE_MS = 90_000
const run = (context: unknown, code: string, timeoutMs = PATIENCE_MS): Step => ({
  call: 'code.run',
  args: [context, code, { ...LIMITS, timeoutMs }],
})
const once = (language: string, code: string, timeoutMs = PATIENCE_MS): Step => ({
  call: 'code.runOnce',
  args: [language, code, { ...LIMITS, timeoutMs }],
})
/** Outputs as they are read, in order. */
const said = (result: StepResult | undefined): unknown[] =>
  outcome(result).outputs.map((output) =>
    'data' in output && output.type !== 'display'
      ? [output.type, new TextDecoder().decode(output.data)]
      : [output.type, 'value' in output ? output.value : ''],
  )

describe.skipIf(reason !== undefined)('code', () => {
  let testbed: SandboxTestbed
  const at = (...steps: Step[]): Promise<readonly StepResult[]> =>
    drive(testbed, 'code', [ENSURE, ...steps], { env: { GIVEN: 'given' } }).then((all) =>
      all.slice(1),
    )
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterAll(() => testbed.stop())

  it('runs where it should, with what it should know, in one round trip', async () => {
    const results = await at(
      once('python', 'import os\nprint(os.getcwd(), os.environ["GIVEN"])'),
      once('javascript', 'console.log(process.cwd(), process.env.GIVEN)'),
      once('typescript', 'const a: string = "GIVEN"; console.log(process.cwd(), process.env[a])'),
    )
    expect(results.map(said)).toEqual(
      Array.from({ length: 3 }, () => [['stdout', '/workspace given\n']]),
    )
    expect(results.map(({ trips }) => trips)).toEqual([['exec'], ['exec'], ['exec']])
  }, 120_000)

  it('keeps what is printed, by children too, in order with what is told', async () => {
    const results = await at(
      once(
        'python',
        'import os, sys\nprint("a", end="")\nos.system("echo b")\nprint("c", file=sys.stderr)\ndisplay("d")\nprint("e")\n1 + 1',
      ),
      once(
        'javascript',
        'console.log("a"); require("node:child_process").spawnSync("echo", ["b"], { stdio: "inherit" }); console.error("c"); console.log("d"); ({ e: 1 })',
      ),
    )
    expect(said(results[0])).toEqual([
      ['stdout', 'ab\n'],
      ['stderr', 'c\n'],
      ['result', "'d'"],
      ['stdout', 'e\n'],
      ['result', '2'],
    ])
    expect(said(results[1])).toEqual([
      ['stdout', 'a\nb\n'],
      ['stderr', 'c\n'],
      ['stdout', 'd\n'],
      ['result', { e: 1 }],
    ])
  }, 120_000)

  it.each([
    ['python', 'print("kept")\nimport os\nos._exit(3)', 3],
    ['python', 'print("kept")\nexit(3)', 3],
    ['python', 'print("kept")\nexit()', 0],
    ['python', 'print("kept")\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)', 137],
    ['python', 'print("kept")\ninput()', 1],
    ['javascript', 'console.log("kept"); process.exit(0)', 0],
    ['javascript', 'console.log("kept"); process.exit(3)', 3],
    ['javascript', 'setTimeout(() => console.log("kept"), 30); undefined', 0],
  ])(
    '%s: %s keeps its output and its exit code',
    async (language, code, exitCode) => {
      const [context] = (await at(create(language))).map(({ value }) => value)
      const results = await at(once(language, code), run(context, code))
      expect([said(results[0]), outcome(results[0]).exitCode]).toEqual([
        [['stdout', 'kept\n']],
        exitCode,
      ])
      expect(outcome(results[0]).error === undefined).toBe(exitCode === 0)
      // Nobody waits in a context for what runs on.
      if (code.startsWith('setTimeout')) return
      expect([said(results[1]), outcome(results[1]).exitCode]).toEqual([
        [['stdout', 'kept\n']],
        exitCode,
      ])
    },
    120_000,
  )

  it('tells errors, of syntax too, and keeps stdout free of them', async () => {
    const results = await at(
      once('python', 'x ='),
      once('python', 'print(1)\nraise ValueError("no")'),
      once('javascript', 'let ='),
      once('typescript', 'const a: = 1'),
    )
    expect(results.map((each) => [outcome(each).error?.name, outcome(each).exitCode])).toEqual([
      ['SyntaxError', 1],
      ['ValueError', 1],
      ['SyntaxError', 1],
      ['SyntaxError', 1],
    ])
    expect(results.map(said)).toEqual([[], [['stdout', '1\n']], [], []])
    expect(outcome(results[1]).error?.trace).toContain('raise ValueError("no")')
  }, 120_000)

  it('keeps contexts apart, and what they define', async () => {
    const [one, two, js, ts] = (
      await at(create('python'), create('python'), create('javascript'), create('typescript'))
    ).map(({ value }) => value)
    expect(one).not.toBe(two)
    const results = await at(
      run(one, 'x = 1\nimport os\nprint(os.getcwd(), os.environ["GIVEN"])'),
      run(two, 'x'),
      run(one, 'os.system("echo child")\nprint(x)\nx + 1'),
      run(js, 'const x = 1'),
      run(js, 'const x = 2; console.log(x)'),
      run(ts, 'enum E { One = 1 }; const a: number = E.One'),
      run(ts, 'require("node:child_process").execSync("echo child", { stdio: "inherit" }); a + 1'),
    )
    expect(results.map((each) => (each.error ? each.error : said(each)))).toEqual([
      [['stdout', '/workspace given\n']],
      [],
      [
        ['stdout', 'child\n1\n'],
        ['result', '2'],
      ],
      [],
      [['stdout', '2\n']],
      [],
      [
        ['stdout', 'child\n'],
        ['result', '2'],
      ],
    ])
    expect(outcome(results[1]).error?.name).toBe('NameError')
    expect(results.every(({ trips }) => trips.length === 1)).toBe(true)
    const later = await at({ call: 'code.remove', args: [one] }, run(one, 'x'), run('feed', '1'), {
      call: 'processes.list',
      args: [],
    })
    const codes = later.map(({ error }) => error?.['code'])
    expect(codes).toEqual([undefined, 'context-missing', 'context-missing', undefined])
    expect(later[3]?.value).toEqual([])
  }, 120_000)

  it('follows the workspace to what has its place', async () => {
    const contexts = (await at(create('python'), create('javascript'))).map(({ value }) => value)
    const replace = 'rm -rf /workspace; mkdir -p /workspace; echo new > /workspace/a'
    const results = await at(
      { call: 'exec', args: [['bash', '-c', replace], { ...LIMITS, cwd: '/', timeoutMs: 9000 }] },
      run(contexts[0], 'print(open("a").read(), end="")'),
      run(contexts[1], 'console.log(require("node:fs").readFileSync("a", "utf8").trim())'),
    )
    expect(results.slice(1).map(said)).toEqual([[['stdout', 'new\n']], [['stdout', 'new\n']]])
  }, 120_000)

  it('ends a run at its time, and an aborted one, with all that they started', async () => {
    const [one, two] = (await at(create('python'), create('javascript'))).map(({ value }) => value)
    const python =
      'import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsubprocess.Popen(["sleep", "4720"])\nprint("begun")\ntime.sleep(300)'
    const javascript =
      'process.on("SIGTERM", () => {}); require("node:child_process").spawn("sleep", ["4720"], { detached: true }); console.log("begun"); while (true) {}'
    const list = 'grep -lzx "472[0]" /proc/[0-9]*/cmdline 2>/dev/null | wc -l'
    // Many times what an interpreter takes to start, also on a busy machine.
    const [started] = await at(once('javascript', '1'))
    const timeMs = 1500 + 10 * (started?.tookMs ?? 0)
    const endless = [
      run(one, python, timeMs),
      { ...run(two, javascript), abortAfterMs: timeMs },
      once('python', python, timeMs),
      once('javascript', javascript, timeMs),
    ]
    const ended = await drive(testbed, 'code', endless, { env: {}, parallel: true })
    const results = await at(
      { call: 'exec', args: [['bash', '-c', list], { ...LIMITS, timeoutMs: 9000 }] },
      run(one, '1'),
      run(two, '1'),
    )
    for (const each of [ended[0], ended[2], ended[3]]) {
      expect([outcome(each).timedOut, said(each)]).toEqual([true, [['stdout', 'begun\n']]])
    }
    expect(outcome(ended[1])).toMatchObject({ aborted: true, timedOut: false })
    const left = valueOf<{ stdout: { bytes: Uint8Array } }>(results[0]).stdout.bytes
    expect(new TextDecoder().decode(left)).toBe('0\n')
    const codes = results.slice(1).map(({ error }) => error?.['code'])
    expect(codes).toEqual(['context-missing', 'context-missing'])
  }, 120_000)

  it('runs code of any size, and cuts what it prints', async () => {
    const [context] = (await at(create('python'))).map(({ value }) => value)
    const long = `x = "${'y'.repeat(300_000)}"\nprint(len(x))`
    const results = await at(
      once('python', long),
      run(context, long),
      once('python', 'print("z" * 1000000)\n1'),
    )
    expect(results.slice(0, 2).map(said)).toEqual([
      [['stdout', '300000\n']],
      [['stdout', '300000\n']],
    ])
    const [[, text], last] = said(results[2]) as [[string, string], unknown]
    expect(text).toContain('934465 bytes are left out; the whole output is in /workspace/.helix/')
    expect(last).toEqual(['result', '1'])
  }, 120_000)

  it('is not taken in by files that are named as modules of the library', async () => {
    const names = ['json', 'traceback', 'linecache', 'base64', 'importlib', 'ast', 'io']
    const make = names.map((name) => `echo 'raise SystemError' > ${name}.py`).join('; ')
    const results = await at(
      { call: 'exec', args: [['bash', '-c', make], { ...LIMITS, timeoutMs: 9000 }] },
      once('python', 'display(b"\\x89PNG\\r\\n\\x1a\\n")\nraise ValueError("no")'),
      { call: 'exec', args: [['bash', '-c', 'rm -- *.py'], { ...LIMITS, timeoutMs: 9000 }] },
    )
    expect(said(results[1])).toEqual([['display', '']])
    expect(outcome(results[1]).error).toMatchObject({ name: 'ValueError', message: 'no' })
  }, 120_000)

  it('leaves all names to the code', async () => {
    const names = ['marks', 'last', 'run', 'emit', 'load', 'session', 'given']
    const [context] = (await at(create('javascript'))).map(({ value }) => value)
    const results = await at(
      once('javascript', `const [marks, ${names.slice(1).join()}, fs, events] = [1]; marks`),
      run(context, names.map((name) => `typeof ${name}`).join(' + " " + ')),
      once('python', `${names.join(' = ')} = 1\nprint(sorted(dir())[:3])`),
    )
    expect(results.map(said)).toEqual([
      [['result', '1']],
      [['result', `'${names.map(() => 'undefined').join(' ')}'`]],
      [['stdout', "['__builtins__', '__doc__', '__loader__']\n"]],
    ])
  }, 120_000)

  it('takes turns in a context', async () => {
    const [context] = (await at(create('python'))).map(({ value }) => value)
    const slow = run(context, 'order = []\nimport time\ntime.sleep(0.2)\norder.append(1)')
    const session = { env: {}, parallel: true }
    const results = await drive(
      testbed,
      'code',
      [slow, run(context, 'order.append(2)\norder')],
      session,
    )
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
    const [last] = await at(run(context, 'order'))
    expect(['[1, 2]', '[1]']).toContain((said(last)[0] as string[])[1])
  }, 120_000)

  it('knows its languages', async () => {
    const [ruby] = await at(create('ruby'))
    expect([ruby?.error?.['code'], ruby?.trips]).toEqual(['language-missing', []])
  })
})

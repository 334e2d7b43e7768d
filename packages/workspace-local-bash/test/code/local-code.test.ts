import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeOutput, codeConfigSchema } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findInterpreters } from '../../src/code/languages.ts'
import { MarkedStream } from '../../src/code/marked-stream.ts'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { SESSION, TestHost } from '../open-workspace.ts'

const sampler = new TestSampler()

/** Of the programs of each language some. */
function sampleOf(name: string, all: readonly Program[], ofEach: number): readonly Program[] {
  return [...Map.groupBy(all, ([language]) => language)].flatMap(([language, programs]) =>
    sampler.pick(`${name} ${language}`, programs, ofEach),
  )
}
type Program = readonly [language: string, code: string]

const host = new TestHost()
let box: LocalBashWorkspace

beforeEach(async () => {
  const { ws } = await host.provider.open({ kind: 'local-bash' }, SESSION, {
    ...host.openOptions,
    capabilities: { code: codeConfigSchema.parse({}) },
  })
  box = ws as LocalBashWorkspace
})
afterEach(() => box.close())
afterAll(() => host.dispose())

const codeOf = () => {
  if (box.code === undefined) throw new Error('no code')
  return box.code
}
const printed = (outputs: readonly CodeOutput[], type: 'stdout' | 'stderr' = 'stdout'): string =>
  outputs.map((one) => (one.type === type ? new TextDecoder().decode(one.data) : '')).join('')

describe('bash', () => {
  test('keeps variables and the directory in a context', async () => {
    const context = await codeOf().createContext('bash')
    await codeOf().runInContext(
      context,
      'mkdir -p sub; cd sub; kept=42; f() { echo "in $PWD $kept"; }',
    )
    const { outputs, exitCode } = await codeOf().runInContext(context, 'f; false')
    expect(printed(outputs)).toMatch(/\/sub 42\n$/)
    expect(exitCode).toBe(1)
  })

  test('exit ends the run with its code, and the context', async () => {
    const context = await codeOf().createContext('bash')
    const run = await codeOf().runInContext(context, 'echo before; exit 7')
    expect([printed(run.outputs), run.exitCode, run.error?.name]).toEqual([
      'before\n',
      7,
      'InterpreterExit',
    ])
    await expect(codeOf().runInContext(context, 'echo x')).rejects.toThrow('no code context')
  })

  test('no program gets the channel of the interpreter', async () => {
    const { outputs } = await codeOf().runCode('bash', 'ls /proc/self/fd; : >&4 || echo closed')
    expect(printed(outputs)).toMatch(/closed/)
  })
})

describe('rich results', () => {
  test('Python gives values, displays and traces with lines', async () => {
    const { outputs } = await codeOf().runCode('python', '{"a": [1, 2]}')
    expect(outputs).toEqual([{ type: 'result', value: { a: [1, 2] } }])
    const png = 'import base64\nbase64.b64decode("iVBORw0KGgo=") + b"x"'
    const picture = await codeOf().runCode('python', png)
    expect(picture.outputs).toMatchObject([{ type: 'display', mime: 'image/png' }])
    const { error } = await codeOf().runCode('python', '\n\n1 / 0')
    expect([error?.name, error?.trace]).toEqual([
      'ZeroDivisionError',
      expect.stringContaining('line 3'),
    ])
  })

  test('JavaScript gives values and displays', async () => {
    const { outputs } = await codeOf().runCode(
      'javascript',
      'const x = await 1; display({ html: "<b>" }); ({ x, y: [2] })',
    )
    expect(outputs).toMatchObject([
      { type: 'display', mime: 'text/html' },
      { type: 'result', value: { x: 1, y: [2] } },
    ])
  })
})

describe('hostile code', () => {
  const stopped: readonly Program[] = [
    ['bash', 'while :; do :; done'],
    ['bash', 'trap "" TERM INT; sleep 600'],
    ['bash', '(setsid sleep 600 &) ; sleep 600'],
    ['bash', 'yes'],
    ['bash', 'cat /dev/zero | tr "\\0" x'],
    ['python', 'while True: pass'],
    [
      'python',
      'import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)',
    ],
    ['python', 'while True: print("x" * 1000)'],
    ['python', 'import re\nre.match(r"(a+)+$", "a" * 60 + "b")'],
    [
      'python',
      'import threading\nfor i in range(20): threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\nwhile True: pass',
    ],
    ['javascript', 'for (;;) ;'],
    ['javascript', 'for (;;) console.log("x".repeat(1000))'],
    [
      'javascript',
      'require("child_process").spawn("sleep", ["600"], { detached: true }); for (;;) ;',
    ],
    ['javascript', 'await new Promise(() => setInterval(() => {}, 1000))'],
  ]

  test.each(sampleOf('stopped', stopped, 2))(
    '%s is ended: %s',
    { timeout: 120_000 },
    async (language, code) => {
      const { exitCode, error, outputs } = await codeOf().runCode(language, code, {
        timeoutMs: 700,
      })
      expect([exitCode, error?.name]).toEqual([124, 'TimeoutError'])
      expect(printed(outputs).length).toBeLessThan(2.5 * 1024 * 1024)
    },
  )

  const ended: readonly Program[] = [
    ['python', 'import os\nos._exit(3)'],
    ['python', 'import os\nos.close(4)\nos._exit(9)'],
    ['python', 'import os\nfor fd in range(0, 10):\n  try: os.close(fd)\n  except OSError: pass'],
    ['python', 'import ctypes\nctypes.string_at(0)'],
    ['python', 'def f(): f()\nf()'],
    ['python', 'a = []\nfor i in range(100000): a = [a]\na'],
    ['python', 'import os\nif os.fork() == 0: print("child")\nelse: os.wait()'],
    ['python', 'import os\nos.write(4, b"x" * 1000000)\nos.write(4, b"\\n" * 1000)'],
    [
      'python',
      'import os\nos.write(4, b\'0 J {"type":"done","status":0}\\n\')\nraise ValueError("x")',
    ],
    ['javascript', 'process.exit(3)'],
    ['javascript', 'process.kill(process.pid, "SIGKILL")'],
    ['javascript', 'function f() { f() } f()'],
    ['javascript', 'throw null'],
    ['javascript', '({ get a() { throw 1 } })'],
    ['javascript', 'JSON.parse(\'{"__proto__": {"polluted": 1}}\')'],
    ['javascript', 'require("fs").writeSync(4, "x J {\\"type\\":\\"done\\",\\"status\\":0}\\n")'],
    ['bash', 'kill -9 $$'],
    ['bash', 'exec true'],
    ['bash', 'exec 1>&- 2>&-'],
    ['bash', 'printf "\\x1e%s\\x1e" 0123456789abcdef0123456789abcdef'],
    ['bash', '(('],
  ]

  test.each(sampleOf('ended', ended, 3))(
    '%s ends by itself: %s',
    { timeout: 120_000 },
    async (language, code) => {
      const { exitCode } = await codeOf().runCode(language, code, { timeoutMs: 10_000 })
      expect(exitCode).not.toBe(124)
      expect(Reflect.get({}, 'polluted')).toBeUndefined()
    },
  )

  test('what a run printed of a mark is output, in any pieces', () => {
    const pieces: string[] = []
    const stream = new MarkedStream((piece) => pieces.push(new TextDecoder().decode(piece)))
    const mark = 'ab'.repeat(16)
    stream.begin(mark)
    for (const byte of Buffer.from(`x\u001e${mark.slice(1)}\u001ey\u001e${mark}\u001ez`)) {
      stream.add(Uint8Array.of(byte))
    }
    expect(pieces.join('')).toBe(`x\u001e${mark.slice(1)}\u001ey`)
  })

  test('a run that is aborted ends its context', async () => {
    const context = await codeOf().createContext('python')
    const abort = new AbortController()
    const running = codeOf().runInContext(context, 'print("on")\nwhile True: pass', {
      signal: abort.signal,
      onOutput: () => abort.abort(new Error('stopped')),
    })
    await expect(running).rejects.toThrow('stopped')
    await expect(codeOf().runInContext(context, '1')).rejects.toThrow('no code context')
  })

  test('close ends contexts and what they started', async () => {
    const context = await codeOf().createContext('bash')
    const { outputs } = await codeOf().runInContext(context, 'sleep 600 & echo "$!"')
    expect(printed(outputs)).toMatch(/^\d+\n$/)
    await box.close()
    await expect(codeOf().runCode('bash', '1')).rejects.toThrow('closed')
    await expect(codeOf().runInContext(context, '1')).rejects.toThrow('closed')
  })
})

describe('interpreters', () => {
  test('a declared language without its program is rejected at open, with the program', async () => {
    const bin = join(host.tmpdirRoot, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'node'), '#!/bin/sh\n')
    chmodSync(join(bin, 'node'), 0o755)
    const isSeen = (path: string): boolean => path.startsWith(bin)
    expect([...(await findInterpreters(undefined, bin, isSeen)).keys()]).toEqual(['javascript'])
    await expect(findInterpreters(['python'], bin, isSeen)).rejects.toThrow(
      'needs the program python3',
    )
    await expect(findInterpreters(['ruby'], bin, isSeen)).rejects.toThrow('runs no code in "ruby"')
  })

  test('a program that is too old is rejected when it is declared, and left out when it is not', async () => {
    const bin = join(host.tmpdirRoot, 'old')
    mkdirSync(bin)
    writeFileSync(join(bin, 'python3'), '#!/bin/sh\necho 3.6\n')
    chmodSync(join(bin, 'python3'), 0o755)
    const isSeen = (path: string): boolean => path.startsWith(bin)
    expect([...(await findInterpreters(undefined, bin, isSeen)).keys()]).toEqual([])
    await expect(findInterpreters(['python'], bin, isSeen)).rejects.toMatchObject({
      code: 'capability-missing',
      message: expect.stringContaining('needs python3 3.8 or later, and the host has 3.6'),
    })
  })

  test('the provider offers code', () => {
    expect(new LocalBashWorkspaceProvider().capabilities).toMatchObject({ code: true })
  })
})

// What a hostile or clumsy model does with its own container: odd files, floods, broken code. The
// answer is right or an error, it comes in time, and the session goes on.
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { availability, Bench, codeOf, skipNote } from '../testbed/bench.ts'

const PROMPT_MS = 60_000
const sampler = new TestSampler()
/** A directory as large as a listing may be, and a smaller one in a sample. */
const MANY = sampler.size(100_000, 600)
/** Bytes that a command prints. */
const FLOOD_BYTES = sampler.size(1_000_000_000, 50_000_000)

interface Ran {
  readonly outputs: readonly { readonly type: string; readonly data?: string }[]
  readonly exitCode: number
  readonly error?: { readonly name: string; readonly message: string }
}

const NEEDLE = 'file-with-a-rather-long-name-000277.txt'

/** A line of bash that is a little longer. */
const long = (length: number): string => `: ${'x'.repeat(length)}; echo long`

/** Fails when it took long. */
async function promptly<T>(run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await run()
  expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS)
  return result
}

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  test('files that are no files are refused at once, also in the place of a large one', async () => {
    const ws = await bench.open('special')
    await ws.call('fs.writeFile', '/large', 'x'.repeat(3_000_000))
    expect(await ws.call('fs.readFile', '/large')).toHaveLength(3_000_000)
    const make = [
      'mkfifo pipe; rm large; mkfifo large; ln -s /dev/zero zero; ln -s pipe link',
      'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'socket\')"',
    ]
    await ws.output(make.join('; '))
    for (const path of ['/pipe', '/large', '/socket', '/link']) {
      expect([path, await promptly(() => codeOf(ws.call('fs.readFile', path)))]).toEqual([
        path,
        'permission-denied',
      ])
      for (const method of ['fs.readStream', 'fs.appendFile', 'fs.copy']) {
        const given = method === 'fs.readStream' ? [path] : [path, '/copy']
        const code = await promptly(() => codeOf(ws.call(method, ...given)))
        expect([method, path, code]).toEqual([method, path, 'permission-denied'])
      }
      await promptly(() => codeOf(ws.call('fs.stat', path)))
    }
    expect(await promptly(() => codeOf(ws.call('fs.readFile', '/zero')))).toBe('path-escape')
    await promptly(() => ws.call('fs.grep', 'x'))
    await promptly(() => ws.call('fs.glob', '**'))
    await ws.call('fs.writeFile', '/pipe', 'a file now')
    expect(await ws.call('fs.readFile', '/pipe')).toBe('a file now')
  }, 90_000)

  test('any name is a name', async () => {
    const ws = await bench.open('names')
    const names = [
      '-rf',
      "a'b",
      'a"b',
      'a\nb',
      '$(id)',
      '`id`',
      ' ',
      '*',
      'a\\b',
      '~',
      '#',
      'é\u0301',
      '\u202e',
    ]
    for (const name of names) {
      await ws.call('fs.writeFile', `/d/${name}`, name)
      expect(await ws.call('fs.readFile', `/d/${name}`)).toBe(name)
      await ws.call('fs.copy', `/d/${name}`, `/e/${name}`)
      await ws.call('fs.move', `/e/${name}`, `/f/${name}/${name}`)
    }
    const listed = await ws.call<{ name: string }[]>('fs.ls', '/d')
    expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect(await ws.call('fs.glob', 'f/*/*')).toHaveLength(names.length)
    const { matches } = await ws.call<{ matches: unknown[] }>('fs.grep', 'id', { path: '/d' })
    expect(matches).toHaveLength(2)
    for (const name of names) await ws.call('fs.rm', `/f/${name}`, { recursive: true })
    expect(await ws.call('fs.ls', '/f')).toEqual([])
  }, 90_000)

  test('a file that is almost too large is searched', async () => {
    const ws = await bench.open('large')
    await ws.output('head -c 9500000 /dev/zero | tr "\\0" "\\n" > a; echo needle >> a; cp a b')
    const { matches } = await ws.call<{ matches: unknown[] }>('fs.grep', 'needle')
    expect(matches).toHaveLength(2)
  }, 90_000)

  test('names that are no text are listed, and reach nothing else', async () => {
    const ws = await bench.open('bytes')
    await ws.output(`printf found > $'a\\xff'; printf found > $'b\\xfe\\xff'; mkdir $'c\\x80'`)
    expect(await ws.call('fs.ls', '/')).toHaveLength(3)
    expect(await ws.call('fs.glob', '**')).toHaveLength(2)
    const found = await ws.call<{ matches: unknown[]; skippedPaths: unknown[] }>('fs.grep', 'found')
    expect(found.matches.length + found.skippedPaths.length).toBe(2)
    expect(await codeOf(ws.call('fs.readFile', '/a\ufffd'))).toBe('not-found')
  }, 90_000)

  test(`${MANY} files`, async () => {
    const ws = await bench.open('many')
    const make = 'mkdir d; cd d; seq -f "file-with-a-rather-long-name-%06g.txt" 1'
    await ws.output(`${make} ${MANY} | xargs touch; echo needle > ${NEEDLE}`)
    expect(await ws.call('fs.ls', '/d')).toHaveLength(MANY)
    expect(await ws.call('fs.glob', '**/*-000*.txt')).toHaveLength(Math.min(MANY, 999))
    const found = await ws.call<{ matches: unknown[] }>('fs.grep', 'needle')
    expect(found.matches).toHaveLength(1)
    expect(await ws.call('fs.grep', 'n.?$')).toMatchObject({ matches: [] })
    await ws.call('fs.rm', '/d', { recursive: true })
  }, 120_000)

  // The limit itself is one of the driver's own tests.
  test.runIf(sampler.isExhaustive)(
    'more files than a listing may have are rejected',
    async () => {
      const ws = await bench.open('too many')
      await ws.output('mkdir d; cd d; seq 1 101000 | xargs touch')
      expect(await codeOf(ws.call('fs.ls', '/d'))).toBe('too-large')
      expect(await ws.output('ls d | wc -l')).toBe('101000')
    },
    120_000,
  )

  test('a flood of output is cut, kept, and leaves the session as it was', async () => {
    const ws = await bench.open('flood')
    const size = FLOOD_BYTES
    const ran = await ws.call<{ stdout: string; stdoutCut: object }>(
      'shell.run',
      `head -c ${size} /dev/zero`,
      { maxOutputBytes: 1000 },
    )
    expect(ran.stdout).toHaveLength(1000)
    expect(ran.stdoutCut).toMatchObject({ totalBytes: size })
    const { path } = ran.stdoutCut as { path: string }
    expect(await ws.call('fs.stat', path)).toMatchObject({ size })
    expect(await codeOf(ws.call('fs.readFile', path))).toBe('too-large')
    await ws.call('fs.rm', '/.helix', { recursive: true })
    const endless = await ws.call<object>('shell.run', 'yes', {
      timeoutMs: 300,
      maxOutputBytes: 10,
    })
    expect(endless).toMatchObject({ timedOut: true, exitCode: 124 })
    expect(await ws.output('echo on')).toBe('on')
  }, 90_000)

  test('a file that is over the limits of the container is an error of the command alone', async () => {
    const ws = await bench.open('full')
    const ran = await ws.call<{ exitCode: number }>('shell.run', 'truncate -s 900G big')
    expect(ran.exitCode).not.toBe(0)
    expect(await ws.output('echo on')).toBe('on')
  }, 90_000)

  test('a link that turns to and fro leads no reader out', async () => {
    const ws = await bench.open('race')
    const flip = 'while :; do ln -sfn /etc d; ln -sfn own d; done'
    await ws.output('mkdir own; echo own > own/hostname; echo own > own/passwd')
    const { id } = await ws.call<{ id: string }>('shell.start', flip)
    const seen = new Set<string>()
    for (let round = 0; round < sampler.size(40, 10); round += 1) {
      const read = ws.call<string>('fs.readFile', '/d/passwd')
      seen.add(await read.catch((error: { code?: string }) => String(error.code)))
    }
    await ws.call('shell.kill', id)
    const allowed = ['own\n', 'path-escape', 'not-found', 'not-directory']
    expect([...seen].filter((one) => !allowed.includes(one))).toEqual([])
  }, 90_000)

  test('whoever runs away from a command is caught at its end', async () => {
    const ws = await bench.open('runaway')
    const flights = [
      'setsid sleep 1001 & sleep 60',
      'setsid env -i sleep 1002 >/dev/null 2>&1; true',
      '(setsid sleep 1003 >/dev/null 2>&1 &) ; sleep 60',
      'trap "" TERM; sleep 1004',
    ]
    for (const flight of flights) {
      const ran = await ws.call('shell.run', flight, { timeoutMs: 300 })
      expect(ran).toMatchObject({ timedOut: true })
    }
    expect(
      await ws.output('cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "sleep 100[0-9]"; true'),
    ).toBe('')
  }, 90_000)

  test('a daemon outlives its command when nothing of it is to be seen, and no longer', async () => {
    const ws = await bench.open('daemons')
    const list = 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "sleep 101[0-9]" | sort; true'
    const hidden = 'setsid env -i sleep 1019 </dev/null >/dev/null 2>&1'
    const starts = [
      'nohup sleep 1011 >/dev/null 2>&1 &',
      '(setsid nohup sleep 1012 >/dev/null 2>&1 &)',
      '( ( sleep 1013 </dev/null >/dev/null 2>&1 & ) & )',
      '( ( setsid env -i sleep 1014 </dev/null & ) & )',
      'setsid env -i sleep 1015 </dev/null >/dev/null 2>&1 & sleep 0.2',
    ]
    for (const start of sampler.pick('daemons', starts, 2)) {
      const ran = ws.call('shell.run', `${start}\nsleep 60`, { timeoutMs: 500 })
      expect(await ran).toMatchObject({ timedOut: true })
      expect([start, await ws.output(list)]).toEqual([start, ''])
      const aborted = ws.call('shell.runAborted', `${start}\necho ready; sleep 60`)
      expect(await aborted).toMatchObject({ stdout: 'ready\n', timedOut: false })
      expect([start, await ws.output(list)]).toEqual([start, ''])
    }
    // Its parent is gone; its session, its environment and its outputs are others.
    const orphaned =
      'for f in $(grep -lzx 1019 /proc/[0-9]*/cmdline 2>/dev/null); do grep -qP "^PPid:\\t1$" ${f%cmdline}status && exit; done'
    const wait = `until (${orphaned}; exit 1); do sleep 0.05; done`
    await ws.call('shell.runAborted', `( ( ${hidden} & ) & )\n${wait}\necho ready; sleep 60`)
    expect(await ws.output(list)).toBe('sleep 1019')
    expect(await ws.output('echo on')).toBe('on')
  }, 120_000)

  describe('code', () => {
    const endless = [
      ['python', 'import time\nwhile True: time.sleep(0.01)', 'TimeoutError', 500],
      ['javascript', 'while (true) {}', 'TimeoutError', 500],
      ['typescript', 'await new Promise(() => setInterval(() => {}, 99))', 'TimeoutError', 500],
      // It ends by itself, long before its time.
      ['javascript', 'await new Promise(() => {})', 'UnsettledPromise', 20_000],
    ] as const
    test.each(sampler.pick('endless code', endless, 2))(
      '%s that never ends',
      async (language, code, name, timeoutMs) => {
        const ws = await bench.open(`endless-${language}-${name.length}`)
        const run = (): Promise<Ran> => ws.call('code.runCode', language, code, { timeoutMs })
        expect((await promptly(run)).error?.name).toBe(name)
        expect(await ws.call('code.runCode', language, '1 + 1')).toMatchObject({ exitCode: 0 })
      },
      90_000,
    )

    const ending = [
      ['python', 'import os; os._exit(3)'],
      ['python', 'exit(3)'],
      ['python', 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)'],
      ['javascript', 'process.exit(3)'],
      ['javascript', 'process.kill(process.pid, "SIGKILL")'],
    ] as const
    test.each(sampler.pick('code that ends', ending, 2))(
      '%s: %s ends in an answer or an error, not in silence',
      async (language, code) => {
        const ws = await bench.open(`ending-${language}-${code.length}`)
        await promptly(() => codeOf(ws.call('code.runCode', language, code)))
        const again = ws.call('code.runCode', language, '1 + 1')
        const end = await codeOf(again)
        if (end === 'evicted') await ws.resolve()
        expect(await ws.call('code.runCode', language, '1 + 1')).toMatchObject({ exitCode: 0 })
      },
      90_000,
    )

    test('a fork, a flood and an image', async () => {
      const ws = await bench.open('python')
      const python = (code: string, options = {}): Promise<Ran> =>
        ws.call<Ran>('code.runCode', 'python', code, { timeoutMs: 60_000, ...options })
      await promptly(() =>
        python('import os\npid = os.fork()\nif pid == 0: os._exit(0)\nprint(pid > 0)'),
      )
      const flood = await python('for i in range(200000): print("x" * 50)')
      const printed = flood.outputs.map(({ data = '' }) => data).join('')
      expect([printed.length < 1_100_000, flood.exitCode]).toEqual([true, 0])
      const [, path = ''] = /left out; the whole output is in (\S+)\]/.exec(printed) ?? []
      expect(await ws.output(`stat -c %s ${path}`)).toBe(String(200_000 * 51))
      expect(await python('1 + 1')).toMatchObject({ exitCode: 0 })
    }, 90_000)

    test('a context that somebody made up is unknown', async () => {
      const ws = await bench.open('contexts')
      for (const id of ['nobody', '../x', '__proto__', ' ', 'a'.repeat(5000)]) {
        expect([id.slice(0, 9), await codeOf(ws.call('code.runInContext', id, '1'))]).toEqual([
          id.slice(0, 9),
          'invalid-input',
        ])
      }
    }, 90_000)
  })

  test('names of variables that are none, and what is no command, are input errors', async () => {
    const ws = await bench.open('input')
    const run = (command: unknown, env = {}): Promise<string> =>
      codeOf(ws.call('shell.run', command, { env }))
    expect(await run('true', { 'A-B': 'x' })).toBe('invalid-input')
    expect(await run('true', { A: 'x\0y' })).toBe('invalid-input')
    expect(await codeOf(ws.call('shell.start', 'true', { env: { '1': 'x' } }))).toBe(
      'invalid-input',
    )
    expect(await run('a\0b')).toBe('invalid-input')
    expect(await run([])).toBe('invalid-input')
    expect(await ws.output(long(131_000))).toBe('long')
    const { id } = await ws.call<{ id: string }>('shell.start', long(131_000))
    await expect.poll(() => ws.call('shell.output', id)).toMatchObject({ stdout: 'long\n' })
    // No program can be started with a longer argument.
    expect(await run(long(131_072))).toBe('invalid-input')
    expect(await codeOf(ws.call('shell.start', long(131_072)))).toBe('invalid-input')
  }, 90_000)
})

// What the runner asks of the SDK for a script and for a file, and what it makes of each failure.
import { describe, expect, it } from 'vitest'
import { DriverError, type DriverErrorCode } from '../../../src/driver/driver-error.ts'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import { SdkRunner } from '../../../src/driver/sdk-0-12/sdk-runner.ts'
import type { SandboxStub } from '../../../src/driver/sdk-0-12/stub.ts'
import { joinScript } from '../../../src/driver/script/join-script.ts'

const PIECE_BYTES = 4
const { signal } = new AbortController()
const CALL = { deadlineMs: 1000, isRepeatable: false, signal }
const WHOLE = { ...CALL, isRepeatable: true }
const DONE = { stdout: '', stderr: '', exitCode: 0 }
const encode = (text: string): string => Buffer.from(text).toString('base64')
const failure = (code: DriverErrorCode): DriverError =>
  new DriverError(code, code, { admitted: 'no' })

interface Answers {
  readonly exec?: (script: string) => unknown
  readonly readFile?: (path: string) => unknown
  readonly writeFile?: (path: string) => unknown
}

/** A runner over a stub of these answers, with what was asked of it and how. */
function runnerOn(answers: Answers = {}, streams = true, pieceBytes?: number) {
  const asked: unknown[][] = []
  const options: unknown[] = []
  const answer =
    (name: keyof Answers) =>
    async (first: string, ...rest: unknown[]): Promise<unknown> => {
      asked.push([name, first, ...rest])
      return (await answers[name]?.(first)) ?? DONE
    }
  const stub = {
    exec: answer('exec'),
    readFile: answer('readFile'),
    writeFile: answer('writeFile'),
  } as unknown as SandboxStub
  const calls = {
    make: (call: (stub: SandboxStub) => Promise<unknown>, option: unknown) => {
      options.push(option)
      return call(stub)
    },
  } as unknown as SdkCalls
  const given = { root: '/work space', streams, ...(pieceBytes !== undefined && { pieceBytes }) }
  return { asked, options, runner: new SdkRunner(calls, given) }
}

const streamOf = (...sizes: readonly number[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const [index, size] of sizes.entries()) {
        controller.enqueue(new Uint8Array(size).fill(index))
      }
      controller.close()
    },
  })

describe('a script', () => {
  it('runs at the root of the container, which ends it a minute after its deadline', async () => {
    const output = { stdout: 'o', stderr: 'e', exitCode: 3 }
    const { asked, options, runner } = runnerOn({ exec: () => output })
    expect(await runner.run('do it', CALL)).toBe(output)
    expect(asked).toEqual([['exec', 'do it', { cwd: '/', timeout: 61_000 }]])
    expect(options).toEqual([CALL])
  })
})

describe('a file that is stored', () => {
  it.each([
    ['bytes', new Uint8Array(Buffer.from('häuß'))],
    ['a stream', new Blob(['häuß']).stream()],
  ])('from %s is one call, which may be repeated', async (_, data) => {
    const { asked, options, runner } = runnerOn()
    await runner.store('/f', data, CALL)
    expect(asked).toEqual([['writeFile', '/f', encode('häuß'), { encoding: 'base64' }]])
    expect(options).toEqual([WHOLE])
  })
  it.each([
    [0, ['writeFile']],
    [PIECE_BYTES, ['writeFile']],
    [PIECE_BYTES + 1, ['writeFile', 'writeFile', 'exec']],
  ])('with %d bytes takes the calls %j', async (size, calls) => {
    for (const data of [new Uint8Array(size), streamOf(size)]) {
      const { asked, runner } = runnerOn({}, true, PIECE_BYTES)
      await runner.store('/f', data, CALL)
      expect(asked.map(([name]) => name)).toEqual(calls)
    }
  })
  it('travels in pieces of eight mebibytes', async () => {
    const { asked, runner } = runnerOn()
    await runner.store('/f', new Uint8Array(8 * 1024 * 1024 + 1), CALL)
    expect(asked.map(([name]) => name)).toEqual(['writeFile', 'writeFile', 'exec'])
    expect(asked[1]?.[2]).toBe('AA==')
  })
  it('in pieces is joined piece by piece, each from a name of its own', async () => {
    const { asked, options, runner } = runnerOn({}, true, PIECE_BYTES)
    await runner.store('/workspace/staged', streamOf(PIECE_BYTES, PIECE_BYTES, 1), CALL)
    const [path, size] = ['/workspace/staged', PIECE_BYTES]
    const parts = [`${path}.${size}.part`, `${path}.${2 * size}.part`]
    const [first = '', second = ''] = parts
    const joins = [
      joinScript({ path, part: first, fromBytes: size, addedBytes: size }),
      joinScript({ path, part: second, fromBytes: 2 * size, addedBytes: 1 }),
    ]
    expect(asked.map(([name, what]) => [name, what])).toEqual([
      ['writeFile', path],
      ['writeFile', first],
      ['exec', joins[0]],
      ['writeFile', second],
      ['exec', joins[1]],
    ])
    expect(asked.at(-2)?.[2]).toBe(Buffer.from([2]).toString('base64'))
    expect(options).toHaveLength(5)
    for (const option of options) expect(option).toMatchObject(WHOLE)
  })
  it.each([
    [3, 'No space left', { code: 'interrupted', reason: 'asleep', admitted: 'no' }],
    [1, 'No space left', { code: 'storage-full', admitted: 'yes' }],
    [4, '', { code: 'failed', message: 'the container could not do it', admitted: 'yes' }],
  ])('whose join ends with %d and %j fails', async (exitCode, stderr, expected) => {
    const { asked, runner } = runnerOn(
      { exec: () => ({ stdout: '', stderr, exitCode }) },
      true,
      PIECE_BYTES,
    )
    const stored = runner.store('/f', streamOf(PIECE_BYTES, PIECE_BYTES, 1), CALL)
    await expect(stored).rejects.toMatchObject(expected)
    expect(asked.map(([name]) => name)).toEqual(['writeFile', 'writeFile', 'exec'])
  })
  it('stops at the first piece that does not arrive', async () => {
    const lost = failure('interrupted')
    const { asked, runner } = runnerOn({ writeFile: () => Promise.reject(lost) }, true, PIECE_BYTES)
    await expect(runner.store('/f', streamOf(PIECE_BYTES, 1), CALL)).rejects.toBe(lost)
    expect(asked).toHaveLength(1)
  })
})

describe('a file that is fetched', () => {
  it('is a stream where the transport has streams', async () => {
    const content = new Blob(['häuß']).stream()
    const { asked, options, runner } = runnerOn({ readFile: () => ({ content }) })
    expect(await runner.fetch('/f', CALL)).toBe(content)
    expect(asked).toEqual([['readFile', '/f', { encoding: 'none' }]])
    expect(options).toEqual([CALL])
  })
  it('is a text elsewhere', async () => {
    const { asked, options, runner } = runnerOn(
      { readFile: () => ({ content: encode('häuß') }) },
      false,
    )
    expect(await new Response(await runner.fetch('/f', CALL)).text()).toBe('häuß')
    expect(asked).toEqual([['readFile', '/f', { encoding: 'base64' }]])
    expect(options).toEqual([CALL])
  })
})

/** Fails for the first times with these. */
const failing = (...errors: readonly unknown[]) => {
  const left = [...errors]
  return async (): Promise<unknown> => {
    if (left.length > 0) throw left.shift()
    return { content: encode('there') }
  }
}

/** Answers that come when they are let go, one at a time. */
function held() {
  const waiting: (() => void)[] = []
  const wait = (): Promise<undefined> =>
    new Promise((resolve) => void waiting.push(() => resolve(undefined)))
  const letGo = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    expect(waiting).toHaveLength(1)
    waiting.shift()?.()
  }
  return { letGo, wait }
}

describe('each call', () => {
  it('of a content in pieces waits for the one before it', async () => {
    const { letGo, wait } = held()
    const { asked, runner } = runnerOn({ exec: wait, writeFile: wait }, true, PIECE_BYTES)
    const stored = runner.store('/f', streamOf(PIECE_BYTES, PIECE_BYTES, 1), CALL)
    for (const calls of [1, 2, 3, 4, 5]) {
      await letGo()
      expect(asked).toHaveLength(calls)
    }
    await stored
  })
  it('that brings the workspace back is waited for', async () => {
    const { letGo, wait } = held()
    const missing = failure('directory-missing')
    const { asked, runner } = runnerOn({ exec: wait, writeFile: failing(missing) })
    const stored = runner.store('/f', new Uint8Array(1), CALL)
    await letGo()
    expect(asked).toHaveLength(2)
    await stored
    expect(asked).toHaveLength(3)
  })
})

describe('a file of a container without its workspace', () => {
  const missing = failure('directory-missing')
  const make = "[[ -e '/work space' || -L '/work space' ]] || mkdir -p -- '/work space'"
  it('is asked for again once that is there', async () => {
    for (const streams of [true, false]) {
      const { asked, options, runner } = runnerOn({ readFile: failing(missing) }, streams)
      await runner.fetch('/f', CALL)
      expect(asked.map(([name, what]) => [name, what])).toEqual([
        ['readFile', '/f'],
        ['exec', make],
        ['readFile', '/f'],
      ])
      expect(options[1]).toEqual({ deadlineMs: 30_000, isRepeatable: true })
    }
  })
  it('is stored once that is there', async () => {
    const { asked, runner } = runnerOn({ writeFile: failing(missing) })
    await runner.store('/f', new Uint8Array(1), CALL)
    expect(asked.map(([name]) => name)).toEqual(['writeFile', 'exec', 'writeFile'])
  })
  it('is asked for twice at most', async () => {
    const again = failure('directory-missing')
    const { asked, runner } = runnerOn({ readFile: failing(missing, again) })
    await expect(runner.fetch('/f', CALL)).rejects.toBe(again)
    expect(asked).toHaveLength(3)
  })
  it.each([failure('not-found'), { code: 'directory-missing' }])(
    'and of no other failure: %j',
    async (thrown) => {
      const { asked, runner } = runnerOn({ readFile: failing(thrown) })
      await expect(runner.fetch('/f', CALL)).rejects.toBe(thrown)
      expect(asked).toHaveLength(1)
    },
  )
})

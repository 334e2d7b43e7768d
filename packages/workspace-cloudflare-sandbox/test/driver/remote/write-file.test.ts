// Which calls a write takes, and what is done about each failure.
import { describe, expect, it } from 'vitest'
import { DriverError, type DriverErrorCode } from '../../../src/driver/driver-error.ts'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import { appendBytes, writeBytes, writeStream } from '../../../src/driver/remote/write-file.ts'
import { linkTo, said } from './link-to.ts'

const path = '/workspace/f'
const CALL = { deadlineMs: 120_000, isRepeatable: false }
const QUIET = { deadlineMs: 10_000, isRepeatable: true }
const ENTRY = 'ok 81a4 3 1.5 7 1.5'
const WORD_BYTES = 90 * 1024
const LARGE_BYTES = 1024 * 1024
const bytes = (length: number, fill = 'x'): Uint8Array => Buffer.alloc(length, fill)
const failure = (
  code: DriverErrorCode,
  admitted: 'yes' | 'no' | 'unknown' = 'unknown',
): DriverError => new DriverError(code, code, { admitted })

/** A container that takes every write, or fails as a test says. */
function container(failures: { readonly store?: unknown; readonly ask?: unknown } = {}) {
  const parts = linkTo((_, nonce) => {
    if (nonce === '') return { stdout: '', stderr: '', exitCode: 0 }
    if (failures.ask !== undefined) throw failures.ask
    return said(nonce, ENTRY)
  })
  const { runner } = parts.link
  const link = Object.assign(Object.create(parts.link) as ContainerLink, {
    runner: {
      ...runner,
      store: async (...args: Parameters<typeof runner.store>): Promise<void> => {
        await runner.store(...args)
        if (failures.store !== undefined) throw failures.store
      },
    },
  })
  /** The scripts without what all start with. */
  const scripts = (): readonly string[] =>
    parts.ran.map(
      ({ script }) => script.split('\n').find((line) => / kind=|^rm |^: >/.test(line)) ?? '',
    )
  return { ...parts, link, scripts }
}
const staged = (nonce: string): string => `/workspace/.helix-write-${nonce}.staged`
const sweepOf = (nonce: string): string => `rm -f -- ${staged(nonce)}*`

const stream = (text = 'xyz'): ReadableStream<Uint8Array> => new Blob([text]).stream()

const append = (link: ContainerLink, length: number): Promise<unknown> =>
  appendBytes(link, { path, data: bytes(length) }, {})

const write = (link: ContainerLink) => writeBytes(link, { path, data: bytes(LARGE_BYTES) }, {})

describe('a small content', () => {
  it.each([
    ['text', bytes(WORD_BYTES)],
    ['base64', bytes(WORD_BYTES / 3, '\xff')],
    ['base64', new Uint8Array([0])],
    ['base64', bytes((WORD_BYTES / 4) * 3 - 1, "'")],
    ['text', bytes(WORD_BYTES / 4, "'")],
    ['base64', Buffer.concat([bytes(WORD_BYTES / 4, "'"), bytes(1)])],
    ['base64', bytes((WORD_BYTES / 4) * 3, '\xff')],
  ])('goes inside the script as %s', async (kind, data) => {
    const { link, ran, scripts, stored } = container()
    const entry = await writeBytes(link, { path, data }, {})
    expect(entry).toMatchObject({ path, type: 'file', sizeBytes: 3 })
    expect(scripts()[0]).toMatch(new RegExp(`^path=${path} kind=${kind} content=`))
    expect([ran.map(({ call }) => call), stored]).toEqual([[CALL], []])
  })
  it('is written with its conditions, and can be given up', async () => {
    const { link, ran, scripts } = container()
    const { signal } = new AbortController()
    await writeBytes(link, { path, data: bytes(3) }, { ifVersion: 'v', signal })
    await appendBytes(link, { path, data: bytes(3) }, { maxBytes: 9, signal })
    await appendBytes(link, { path, data: bytes(3) }, {})
    expect(scripts()).toEqual([
      `path=${path} kind=text content=xxx absent= checked=1 version=v`,
      `path=${path} kind=text content=xxx added=3 most=9`,
      `path=${path} kind=text content=xxx added=3 most=`,
    ])
    expect(ran.map(({ call }) => call)).toEqual([{ ...CALL, signal }, { ...CALL, signal }, CALL])
  })
})

describe('a content that needs a file of its own', () => {
  it('is one that is too long as base64', async () => {
    const { link, stored } = container()
    await writeBytes(link, { path, data: bytes((WORD_BYTES / 4) * 3 + 1, '\xff') }, {})
    expect(stored).toHaveLength(1)
  })
  it.each([
    [WORD_BYTES + 1, ''],
    [LARGE_BYTES - 1, ''],
    [LARGE_BYTES, '1'],
  ])('of %d bytes is stored beside the script, or before it: filled=%s', async (size, filled) => {
    const { link, scripts, stored } = container()
    await writeBytes(link, { path, data: bytes(size) }, {})
    expect(scripts()).toEqual([
      `path=${path} kind=staged staged=${staged('0001')} size=${size} filled=${filled} absent= checked= version=`,
    ])
    expect(stored.map(({ path: at, text, call }) => [at, text.length, call])).toEqual([
      [staged('0001'), size, CALL],
    ])
  })
  it('and does not come: the script is told, and what came is removed', async () => {
    const lost = failure('interrupted')
    const { link, ran, scripts } = container({ store: lost, ask: failure('failed') })
    await expect(writeBytes(link, { path, data: bytes(WORD_BYTES + 1) }, {})).rejects.toBe(lost)
    expect(scripts().slice(1)).toEqual([': >/scratch/gone-0001', sweepOf('0001')])
    expect(ran.slice(1).map(({ call }) => call)).toEqual([QUIET, QUIET])
  })
  it('which the script rejects for a reason of its own: that is reported', async () => {
    const reason = failure('denied', 'yes')
    for (const store of [failure('interrupted'), undefined]) {
      const { link, scripts } = container({ store, ask: reason })
      await expect(writeBytes(link, { path, data: bytes(WORD_BYTES + 1) }, {})).rejects.toBe(reason)
      expect(scripts().at(-1)).toBe(sweepOf('0001'))
    }
  })
  it('is there although the call that brought it failed', async () => {
    const { link } = container({ store: failure('interrupted') })
    const entry = await writeBytes(link, { path, data: bytes(WORD_BYTES + 1) }, {})
    expect(entry.sizeBytes).toBe(3)
  })
})

describe('a large content that goes first', () => {
  it('and was refused, with a script that was lost, fails as it was refused', async () => {
    const store = failure('denied', 'yes')
    const { link } = container({ store, ask: new Error('odd') })
    await expect(write(link)).rejects.toBe(store)
  })
  it('and did not arrive is removed, and no script runs', async () => {
    for (const lost of [failure('interrupted'), new Error('odd')]) {
      const { link, scripts } = container({ store: lost })
      await expect(write(link)).rejects.toBe(lost)
      expect(scripts()).toEqual([sweepOf('0001')])
    }
  })
  it.each([
    ['failed', 'yes', 'failed', false],
    ['failed', 'yes', 'denied', true],
    ['directory-missing', 'no', 'denied', true],
  ] as const)(
    'and was refused as %s (%s) and by the script as %s: the script says why: %s',
    async (code, admitted, asked, isOfScript) => {
      const [store, ask] = [failure(code, admitted), failure(asked, 'yes')]
      const { link, scripts } = container({ store, ask })
      await expect(write(link)).rejects.toBe(isOfScript ? ask : store)
      expect(scripts().slice(1)).toEqual([sweepOf('0001')])
    },
  )
})

describe('a write that fails', () => {
  const lost = failure('interrupted')
  it.each([
    ['beside the script', 1, (link: ContainerLink) => append(link, WORD_BYTES + 1)],
    ['before the script', 1, (link: ContainerLink) => append(link, LARGE_BYTES)],
    ['of a stream', 1, (link: ContainerLink) => writeStream(link, { path, data: stream() }, {})],
    ['whose content did not come', 2, (link: ContainerLink) => append(link, WORD_BYTES + 1)],
  ])('%s is over once what came is removed', async (_, sweeps, act) => {
    const held: (() => void)[] = []
    let isOver = false
    const { clock, link, ran } = container({ ask: lost, ...(sweeps > 1 && { store: lost }) })
    const { runner } = link
    const run: typeof runner.run = async (script, call) => {
      const answer = runner.run(script, call)
      if (/^(?:rm|:) /.test(script)) await new Promise<void>((resolve) => void held.push(resolve))
      return answer
    }
    Object.assign(link, { runner: { ...runner, run } })
    const done = act(link)
      .catch((error: unknown) => error)
      .finally(() => (isOver = true))
    for (let sweep = 0; sweep < sweeps; sweep += 1) {
      await clock.advance(0)
      await new Promise((resolve) => setImmediate(resolve))
      expect([held.length, isOver]).toEqual([1, false])
      held.shift()?.()
    }
    expect(await done).toBe(lost)
    expect(ran.length).toBe(1 + sweeps)
  })
})

describe('a stream', () => {
  it('is stored first, and counted', async () => {
    const { link, ran, scripts, stored } = container()
    const { signal } = new AbortController()
    await writeStream(link, { path, data: stream() }, { ifAbsent: true, signal })
    expect(stored).toEqual([{ path: staged('0001'), text: 'xyz', call: { ...CALL, signal } }])
    expect(scripts()).toEqual([
      `path=${path} kind=staged staged=${staged('0001')} size=3 filled=1 absent=1 checked= version=`,
    ])
    expect(ran[0]?.call).toEqual({ ...CALL, signal })
  })
  it('that the container does not take is removed', async () => {
    const refused = failure('denied', 'yes')
    const { link, scripts } = container({ ask: refused })
    await expect(writeStream(link, { path, data: stream() }, {})).rejects.toBe(refused)
    expect(scripts().at(-1)).toBe(sweepOf('0001'))
  })
  it('that fails itself says why, whatever the platform makes of it', async () => {
    const torn = new Error('torn')
    const data = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(torn) })
    const { link, scripts } = container()
    await expect(writeStream(link, { path, data }, {})).rejects.toBe(torn)
    expect(scripts()).toEqual([sweepOf('0001')])
  })
  it.each([
    ['is stored', undefined],
    ['is refused by the platform in its own words', failure('interrupted')],
  ])('that fails and %s is not put in place, and says why', async (_, refused) => {
    const torn = new Error('torn')
    const data = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(torn) })
    const parts = linkTo((_ran, nonce) => said(nonce, ENTRY))
    const runner = {
      ...parts.link.runner,
      store: async (_path: string, content: unknown): Promise<void> => {
        await new Response(content as ReadableStream).text().catch(() => '')
        if (refused !== undefined) throw refused
      },
    }
    const link = Object.assign(Object.create(parts.link) as ContainerLink, { runner })
    await expect(writeStream(link, { path, data }, {})).rejects.toBe(torn)
    expect(parts.ran.map(({ script }) => script)).toEqual([sweepOf('0001')])
  })
})

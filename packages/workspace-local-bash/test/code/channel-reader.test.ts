import { describe, expect, it } from 'vitest'
import { type ChannelEvent, ChannelReader } from '../../src/code/channel-reader.ts'

const MARK = 'ab'.repeat(16)
const MAX_RUN_BYTES = 12 * 1024 * 1024
const MAX_LINE_BYTES = 1024 * 1024

/** A reader within a run, and what it has reported. */
function open(): { readonly reader: ChannelReader; readonly events: ChannelEvent[] } {
  const events: ChannelEvent[] = []
  const reader = new ChannelReader((event) => events.push(event))
  reader.begin(MARK)
  return { reader, events }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const json = (event: unknown): string => `${MARK} J ${JSON.stringify(event)}\n`
const DONE = json({ type: 'done', status: 3 })

/** What one line is read as. */
function read(line: string): readonly ChannelEvent[] {
  const { reader, events } = open()
  reader.add(bytes(line))
  return events
}

describe('a line of a channel', () => {
  it.each([
    [
      { type: 'result', json: [1], text: '[1]' },
      { type: 'result', value: [1] },
    ],
    [
      { type: 'result', json: false, text: 'x' },
      { type: 'result', value: false },
    ],
    [
      { type: 'result', text: '<object>' },
      { type: 'result', value: '<object>' },
    ],
  ])('is a result: %j', (event, output) => {
    expect(read(json(event))).toEqual([{ type: 'output', output }])
  })
  it.each([
    [
      { name: 'E', message: 'm', trace: 't' },
      { name: 'E', message: 'm', trace: 't' },
    ],
    [
      { message: 'm', trace: '' },
      { name: 'Error', message: 'm' },
    ],
    [
      { name: '', message: 7, trace: 7 },
      { name: 'Error', message: '' },
    ],
  ])('is an error: %j', (event, error) => {
    expect(read(json({ type: 'error', ...event }))).toEqual([{ type: 'error', error }])
  })
  it.each([
    [0, 0],
    [7, 7],
    ['0', 1],
    [undefined, 1],
  ])('is the end with status %j', (status, expected) => {
    expect(read(json({ type: 'done', status }))).toEqual([{ type: 'done', status: expected }])
  })
  it('is a display of a type, which is cut to 100 characters', () => {
    const mime = `image/${'x'.repeat(114)}`
    expect(read(`${MARK} D image/png aGk=\n${MARK} D ${mime} aGk=\n`)).toEqual(
      ['image/png', mime.slice(0, 100)].map((shown) => ({
        type: 'output',
        output: { type: 'display', mime: shown, data: bytes('hi') },
      })),
    )
  })
  it.each([
    `${MARK} D image/png &&&\n`,
    `${MARK} J {"type":\n`,
    `${MARK} J null\n`,
    `${MARK} J "done"\n`,
    `${MARK} J {"type":"other","status":0}\n`,
    `${MARK} J {"__proto__":{"type":"done"}}\n`,
    `${MARK.replace('a', 'c')} J {"type":"done","status":0}\n`,
    '{"type":"done","status":0}\n',
    '\n',
  ])('is nothing: %j', (line) => {
    expect(read(line)).toEqual([])
    expect(read(line + DONE)).toEqual([{ type: 'done', status: 3 }])
  })
  it('is nothing before the first run, whatever mark it bears', () => {
    const events: ChannelEvent[] = []
    const reader = new ChannelReader((event) => events.push(event))
    reader.add(bytes(' J {"type":"done","status":0}\n'))
    expect(events).toEqual([])
  })
  it('is whole at its end, in whatever pieces it comes', () => {
    const { reader, events } = open()
    const memory = new Uint8Array(1)
    for (const byte of bytes(DONE.repeat(2))) {
      memory[0] = byte
      reader.add(memory)
    }
    expect(events).toEqual([
      { type: 'done', status: 3 },
      { type: 'done', status: 3 },
    ])
  })
  it('of the run before is none of the next', () => {
    const { reader, events } = open()
    reader.add(bytes('left over'))
    reader.begin(MARK)
    reader.add(bytes(DONE))
    expect(events).toEqual([{ type: 'done', status: 3 }])
  })
})

/** In a run of which so much was sent. */
function after(sentBytes: number): ReturnType<typeof open> {
  const opened = open()
  opened.reader.add(new Uint8Array(sentBytes).fill(120))
  opened.reader.add(bytes('\n'))
  return opened
}

describe('too much in a channel', () => {
  it('is a JSON text of more than 1 MiB', () => {
    const overhead = JSON.stringify({ type: 'result', text: '' }).length
    const textOf = (length: number): string =>
      json({ type: 'result', text: 'x'.repeat(length - overhead) })
    expect(read(textOf(MAX_LINE_BYTES))).toHaveLength(1)
    expect(read(textOf(MAX_LINE_BYTES + 1))).toEqual([])
  })

  const line = DONE.slice(0, -1)

  it('is what comes after 12 MiB, except for lines that come in one piece', () => {
    for (const [over, found] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const { reader, events } = after(MAX_RUN_BYTES - line.length + over)
      reader.add(bytes(line.slice(0, 40)))
      reader.add(bytes(`${line.slice(40)}\n`))
      expect(events).toHaveLength(found)
      reader.add(bytes(DONE))
      expect(events.at(-1)).toEqual({ type: 'done', status: 3 })
    }
  })
  it('is a display in one piece of more than 1 MiB then', () => {
    const { reader, events } = after(MAX_RUN_BYTES)
    const start = `${MARK} D text/plain `
    // Base64 comes in fours.
    const longest = Math.floor((MAX_LINE_BYTES - start.length) / 4) * 4
    const pad = ' '.repeat(MAX_LINE_BYTES - start.length - longest)
    reader.add(bytes(`${start}${'A'.repeat(longest)}${pad}\n`))
    const shown = events.length
    reader.add(bytes(`${start}${'A'.repeat(longest + 4)}\n`))
    expect([shown, events.length]).toEqual([1, 1])
    reader.begin(MARK)
    reader.add(bytes(`${start}${'A'.repeat(longest + 4)}\n`))
    expect(events).toHaveLength(2)
  })
})

// The outputs of a run of code, and the events between them: one order, whatever arrives when.
import { encodeBase64 } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { readCodeEvent } from '../../../src/driver/code/code-events.ts'
import { CodeOutputs } from '../../../src/driver/code/code-outputs.ts'
import type { DriverCodeOutput } from '../../../src/driver/port.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function read(event: unknown) {
  return readCodeEvent(JSON.stringify(event))
}

describe('a line of the channel', () => {
  it('is a mark, a result, an error or an end, at its place', () => {
    const at = [3, 4]
    expect(read({ type: 'mark', at })).toEqual({ at, outputs: [] })
    expect(read({ type: 'mark' })).toEqual({ outputs: [] })
    expect(read({ type: 'error', at, name: 'E', message: 'm', traceback: ['a', 'b'] })).toEqual({
      at,
      outputs: [],
      error: { name: 'E', message: 'm', trace: 'a\nb' },
    })
    for (const type of ['absent', 'lost', 'full', 'ended']) {
      const ending = { type, program: 'node' }
      expect(read({ type, at, program: 'node' })).toEqual({ outputs: [], ending })
      expect(read({ type })).toEqual({ outputs: [], ending: { type, program: '' } })
    }
  })

  it.each([
    ['no JSON', 'x'],
    ['a part of JSON', '{"type":"mark"'],
    ['null', 'null'],
    ['a text', '"mark"'],
    ['no type', '{}'],
    ['another type', '{"type":"other"}'],
  ])('that is %s is none', (_, line) => {
    expect(readCodeEvent(line)).toBeUndefined()
  })

  it.each([[7], [[1]], [['1', 2]], [[1, '2']], [null]])('has no place at %j', (at) => {
    expect(read({ type: 'mark', at })).toEqual({ outputs: [] })
  })

  it('is an error also with fields that are none', () => {
    const odd = { name: '', message: 1, traceback: [] }
    expect(read({ type: 'error', ...odd })?.error).toEqual({ name: 'Error', message: '' })
    expect(read({ type: 'error', traceback: 'x' })?.error).toEqual({ name: 'Error', message: '' })
  })
})

const outputsOf = (fields: object) => read({ type: 'result', ...fields })?.outputs

const display = (mime: string, text: string) => ({ type: 'display', mime, data: bytesOf(text) })

const value = (of: unknown) => ({ type: 'result', value: of })

describe('a result', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
  ])('of %s is bytes', (name, mime) => {
    expect(outputsOf({ [name]: encodeBase64(bytesOf('x')), text: 'a picture' })).toEqual([
      display(mime, 'x'),
    ])
    expect(outputsOf({ [name]: '!', text: 'no picture' })).toEqual([
      { type: 'result', value: 'no picture' },
    ])
  })

  it.each([
    ['svg', 'image/svg+xml'],
    ['html', 'text/html'],
    ['markdown', 'text/markdown'],
    ['latex', 'text/latex'],
    ['javascript', 'application/javascript'],
  ])('of %s is a text', (name, mime) => {
    expect(outputsOf({ [name]: 'é' })).toEqual([display(mime, 'é')])
    expect(outputsOf({ [name]: 1 })).toEqual([])
  })

  it('has its value behind what it displays, the most exact one', () => {
    expect(outputsOf({ html: 'h', json: 1, data: 2, chart: 3, text: 't' })).toEqual([
      display('text/html', 'h'),
      value(1),
    ])
    expect(outputsOf({ data: 2, chart: 3, text: 't' })).toEqual([value(2)])
    expect(outputsOf({ chart: 3, text: 't' })).toEqual([value(3)])
    expect(outputsOf({ json: 0 })).toEqual([value(0)])
    expect(outputsOf({ text: 't' })).toEqual([value('t')])
    expect(outputsOf({})).toEqual([])
  })
})

const lineOf = (output: DriverCodeOutput): string => {
  if (output.type === 'result') return `result ${String(output.value)}`
  if (output.type === 'display') return `display ${output.mime}`
  return `${output.type} ${textOf(output.data)}`
}

/** Outputs as they were handed on, in a line each. */
function recorded() {
  const lines: string[] = []
  const outputs = new CodeOutputs(async (output) => {
    await Promise.resolve()
    lines.push(lineOf(output))
  })
  return { lines, outputs }
}

const line = (event: object): string => `${JSON.stringify(event)}\n`
const result = (text: string, at?: readonly number[]) => line({ type: 'result', text, at })

describe('the outputs of a run', () => {
  it('stand before and behind an event as they were printed', async () => {
    const { lines, outputs } = recorded()
    outputs.print('stdout', bytesOf('abcd'))
    outputs.print('stderr', bytesOf('xyz'))
    outputs.emitEvents(bytesOf(result('r1', [1, 2]) + result('r2', [4, 2])))
    await outputs.settle(false)
    const all = ['stdout a', 'stderr xy', 'result r1', 'stdout bcd', 'result r2', 'stderr z']
    expect(lines).toEqual(all)
    await outputs.settle(true)
    expect(lines).toEqual(all)
  })

  it('of one piece are cut at each event', async () => {
    const { lines, outputs } = recorded()
    outputs.print('stdout', bytesOf('abcdef'))
    outputs.emitEvents(bytesOf(result('r', [2, 0]) + result('s', [3, 0]) + result('t', [5, 0])))
    await outputs.settle(false)
    const cut = ['stdout ab', 'result r', 'stdout c', 'result s', 'stdout de', 'result t']
    expect(lines).toEqual([...cut, 'stdout f'])
  })

  it('are taken one after the other, and all before it settles', async () => {
    const held: { readonly name: string; letGo(): void }[] = []
    let isOver = false
    const outputs = new CodeOutputs(
      (output) =>
        new Promise((resolve) => void held.push({ name: lineOf(output), letGo: resolve })),
    )
    outputs.print('stdout', bytesOf('ab'))
    outputs.print('stderr', bytesOf('cd'))
    outputs.emitEvents(bytesOf(result('r', [1, 1])))
    const settled = outputs.settle(false).finally(() => (isOver = true))
    for (const name of ['stdout a', 'stderr c', 'result r', 'stdout b', 'stderr d']) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
      expect([held.map((each) => each.name), isOver]).toEqual([[name], false])
      held.shift()?.letGo()
    }
    await settled
  })

  it('wait for what an event says was printed before it, in both streams', async () => {
    for (const late of ['stdout', 'stderr'] as const) {
      const { lines, outputs } = recorded()
      const early = late === 'stdout' ? 'stderr' : 'stdout'
      outputs.print(early, bytesOf('ab'))
      outputs.print(late, bytesOf('a'))
      outputs.emitEvents(bytesOf(result('r', [2, 2])))
      await outputs.settle(false)
      expect(lines).toEqual([])
      outputs.print(late, bytesOf('bc'))
      await outputs.settle(false)
      expect(lines).toEqual(
        ['stdout ab', 'stderr ab', 'result r', `${late} c`].toSorted(
          (a, b) => Number(a.endsWith(' c')) - Number(b.endsWith(' c')),
        ),
      )
    }
  })

  it('come also when the event waits for what never comes', async () => {
    const { lines, outputs } = recorded()
    outputs.print('stdout', bytesOf('a'))
    outputs.emitEvents(bytesOf(result('r', [9, 9]) + result('s')))
    await outputs.settle(true)
    expect(lines).toEqual(['stdout a', 'result r', 'result s'])
  })

  it('without an event come at once, each stream as one piece', async () => {
    const { lines, outputs } = recorded()
    for (const text of ['a', '', 'b']) outputs.print('stdout', bytesOf(text))
    outputs.print('stderr', bytesOf('e'))
    await outputs.settle(false)
    expect(lines).toEqual(['stdout ab', 'stderr e'])
    await outputs.settle(true)
    expect(lines).toHaveLength(2)
  })

  it('of which nothing was printed are none', async () => {
    const { lines, outputs } = recorded()
    outputs.print('stdout', bytesOf(''))
    await outputs.settle(true)
    expect(lines).toEqual([])
  })

  it('that are an event without a place stand behind all that has come', async () => {
    const { lines, outputs } = recorded()
    outputs.print('stdout', bytesOf('ab'))
    outputs.emitEvents(bytesOf(result('r')))
    await outputs.settle(false)
    expect(lines).toEqual(['stdout ab', 'result r'])
    const silent = recorded()
    silent.outputs.emitEvents(bytesOf(result('r')))
    await silent.outputs.settle(false)
    expect(silent.lines).toEqual(['result r'])
  })

  it('keep the last error and the last end', async () => {
    const { outputs } = recorded()
    expect([outputs.error, outputs.ending]).toEqual([undefined, undefined])
    for (const name of ['First', 'Last']) outputs.emitEvents(bytesOf(line({ type: 'error', name })))
    outputs.emitEvents(bytesOf(line({ type: 'lost' }) + line({ type: 'mark' })))
    await outputs.settle(false)
    expect(outputs.error).toEqual({ name: 'Last', message: '' })
    expect(outputs.ending).toEqual({ type: 'lost', program: '' })
  })
})

describe('lines that come in pieces', () => {
  it('are read when they end, wherever they are cut', async () => {
    const whole = bytesOf(`${result('é', [0, 0])}\n${result('s', [0, 0])}`)
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const { lines, outputs } = recorded()
      outputs.emitEvents(whole.subarray(0, cut))
      outputs.emitEvents(whole.subarray(cut))
      await outputs.settle(false)
      expect(lines).toEqual(['result é', 'result s'])
    }
  })

  it('are those of head and tail, when what is between them is lost', async () => {
    const { lines, outputs } = recorded()
    outputs.emitEvents(bytesOf('{"type":'))
    const head = `"mark"}\n${result('r', [0, 0])}{"type":"mark","at`
    const tail = `[0,0]}\n${result('s', [0, 0])}`
    const bytes = bytesOf(head + tail)
    outputs.emitAllEvents({ bytes, headBytes: head.length, totalBytes: 999 })
    await outputs.settle(true)
    expect(lines).toEqual(['result r', 'result s'])
    const whole = recorded()
    const all = bytesOf(result('r', [0, 0]))
    whole.outputs.emitAllEvents({ bytes: all, totalBytes: all.length })
    await whole.outputs.settle(true)
    expect(whole.lines).toEqual(['result r'])
  })

  it('are all there when the cut is between two of them', async () => {
    const { lines, outputs } = recorded()
    const head = result('r', [0, 0]).trimEnd()
    const bytes = bytesOf(`${head}\n${result('s', [0, 0])}`)
    outputs.emitAllEvents({ bytes, headBytes: head.length, totalBytes: 999 })
    await outputs.settle(true)
    expect(lines).toEqual(['result s'])
  })
})

const notice = (omitted: number) => `(${omitted} left out)`

describe('an output that is only kept at both ends', () => {
  it('has a notice in between, and its places are those of the whole', async () => {
    const { lines, outputs } = recorded()
    outputs.printAll('stdout', { bytes: bytesOf('abyz'), headBytes: 2, totalBytes: 26 }, notice)
    outputs.emitEvents(bytesOf(result('r', [2, 0]) + result('s', [25, 0])))
    await outputs.settle(true)
    const left = '(22 left out)'
    expect(lines).toEqual(['stdout ab', 'result r', `stdout ${left}y`, 'result s', 'stdout z'])
  })

  it('is not cut within its notice', async () => {
    const { lines, outputs } = recorded()
    outputs.printAll('stderr', { bytes: bytesOf('abyz'), headBytes: 2, totalBytes: 26 }, notice)
    outputs.emitEvents(bytesOf(result('r', [0, 5])))
    await outputs.settle(true)
    expect(lines).toEqual(['stderr ab(22 left out)', 'result r', 'stderr yz'])
  })

  it('is printed as it is when nothing was left out', async () => {
    const { lines, outputs } = recorded()
    outputs.printAll('stdout', { bytes: bytesOf('ab'), totalBytes: 2 }, notice)
    await outputs.settle(true)
    expect(lines).toEqual(['stdout ab'])
  })
})

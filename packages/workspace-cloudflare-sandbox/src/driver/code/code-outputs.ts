import type { DriverCodeOutput, ExecOutput } from '../port.ts'
import { type CodeEnding, type CodeEvent, readCodeEvent } from './code-events.ts'

type StreamName = 'stdout' | 'stderr'
type Take = (output: DriverCodeOutput) => void | Promise<void>

/**
 * Puts the outputs and the events of a run into one order: each event knows how much had been printed
 * before it.
 */
export class CodeOutputs {
  readonly #take: Take
  readonly #streams = { stdout: new Printed(), stderr: new Printed() }
  readonly #events: CodeEvent[] = []
  #rest: Uint8Array = new Uint8Array()
  #error: CodeEvent['error']
  #ending: CodeEnding | undefined

  /** @param take Gets each output, in order, and is waited for. */
  constructor(take: Take) {
    this.#take = take
  }

  /** The last error that was reported. */
  get error(): CodeEvent['error'] {
    return this.#error
  }

  get ending(): CodeEnding | undefined {
    return this.#ending
  }

  print(name: StreamName, bytes: Uint8Array): void {
    this.#streams[name].add(bytes)
  }

  /** A whole output, or head and tail of one. @param notice Stands for what was left out. */
  printAll(name: StreamName, output: ExecOutput, notice: (omitted: number) => string): void {
    const { bytes, headBytes, totalBytes } = output
    if (headBytes === undefined) return this.#streams[name].add(bytes)
    const omitted = totalBytes - bytes.length
    this.#streams[name].add(bytes.subarray(0, headBytes))
    this.#streams[name].skip(omitted, new TextEncoder().encode(notice(omitted)))
    this.#streams[name].add(bytes.subarray(headBytes))
  }

  /** Lines of the channel; an unfinished one waits for its end. */
  emitEvents(bytes: Uint8Array): void {
    const whole = joined([this.#rest, bytes])
    const end = whole.lastIndexOf(NEWLINE) + 1
    this.#rest = whole.subarray(end)
    this.#read(whole.subarray(0, end))
  }

  /** The whole channel, or head and tail of it: the lines in between are lost. */
  emitAllEvents({ bytes, headBytes = bytes.length }: ExecOutput): void {
    this.emitEvents(bytes.subarray(0, headBytes))
    const tail = bytes.subarray(headBytes)
    this.#rest = new Uint8Array()
    this.emitEvents(tail.subarray(tail.indexOf(NEWLINE) + 1))
  }

  /** Hands on what is certain. @param isOver No more will come. */
  async settle(isOver: boolean): Promise<void> {
    for (let event = this.#events[0]; event !== undefined; event = this.#events[0]) {
      if (!isOver && !this.#isDue(event)) return
      this.#events.shift()
      await this.#print(event.at ?? [Infinity, Infinity])
      this.#error = event.error ?? this.#error
      this.#ending = event.ending ?? this.#ending
      for (const output of event.outputs) await this.#take(output)
    }
    await this.#print([Infinity, Infinity])
  }

  #read(lines: Uint8Array): void {
    for (const line of new TextDecoder().decode(lines).split('\n')) {
      const event = readCodeEvent(line)
      if (event !== undefined) this.#events.push(event)
    }
  }

  #isDue({ at = [0, 0] }: CodeEvent): boolean {
    const { stdout, stderr } = this.#streams
    return stdout.received >= at[0] && stderr.received >= at[1]
  }

  async #print([stdout, stderr]: readonly [number, number]): Promise<void> {
    for (const data of this.#streams.stdout.takeTo(stdout)) {
      await this.#take({ type: 'stdout', data })
    }
    for (const data of this.#streams.stderr.takeTo(stderr)) {
      await this.#take({ type: 'stderr', data })
    }
  }
}

const NEWLINE = 10

/** What one stream has printed and was not consumed yet. */
class Printed {
  received = 0
  #taken = 0
  #parts: { readonly bytes: Uint8Array; readonly size: number }[] = []

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.received += bytes.length
    this.#parts.push({ bytes, size: bytes.length })
  }

  /** Counts what is not there, and shows a notice in its place. */
  skip(size: number, notice: Uint8Array): void {
    this.received += size
    this.#parts.push({ bytes: notice, size })
  }

  /** All that was printed before an offset, as one or no piece. */
  takeTo(offset: number): readonly Uint8Array[] {
    const found: Uint8Array[] = []
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      const wanted = offset - this.#taken
      if (wanted <= 0) break
      this.#parts.shift()
      // Of what was left out there is no part.
      const isWhole = wanted >= part.size || part.bytes.length !== part.size
      found.push(isWhole ? part.bytes : part.bytes.subarray(0, wanted))
      this.#taken += isWhole ? part.size : wanted
      if (isWhole) continue
      this.#parts.unshift({ bytes: part.bytes.subarray(wanted), size: part.size - wanted })
    }
    return found.length === 0 ? [] : [joined(found)]
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

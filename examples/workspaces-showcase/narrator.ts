import { styleText } from 'node:util'
import type { StreamChunk } from '@helix-agents/core/runtime'

type Style = Parameters<typeof styleText>[0]

/** What happened in one process, for the summary. */
export interface Tally {
  /** Tool → how often it was called. */
  readonly calls: Record<string, number>
  failedCalls: number
  /** Of the failed ones: whether they had an effect is not known. */
  unknownCalls: number
  /** Bytes of the arguments that the model gave, and of the results that tools returned. */
  argumentBytes: number
  resultBytes: number
  toolMs: number
}

/** Tells on a terminal what an agent does, while it does it. */
export class Narrator {
  readonly tally: Tally = {
    calls: {},
    failedCalls: 0,
    unknownCalls: 0,
    argumentBytes: 0,
    resultBytes: 0,
    toolMs: 0,
  }
  readonly #startedAt = new Map<string, number>()
  /** A model says a sentence in many pieces. */
  #said = ''
  readonly #print: (line: string) => void

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  show(chunk: StreamChunk): void {
    if (chunk.type === 'text_delta') this.#said += chunk.delta
    else if (chunk.type === 'model_retry') this.#retry(chunk)
    else if (chunk.type !== 'thinking' && chunk.type !== 'tool_input_delta') this.flush()
    if (chunk.type === 'tool_start') this.#toolStart(chunk)
    if (chunk.type === 'tool_progress') this.#lines(chunk.text)
    if (chunk.type === 'tool_end') this.#toolEnd(chunk)
    if (chunk.type === 'approval_resolved') this.#print(`  ${decisionOf(chunk)}`)
    if (chunk.type === 'error') this.#print(paint('red', `error  ${chunk.code}: ${chunk.message}`))
  }

  /** Prints what the model has said and was not printed yet. */
  flush(): void {
    if (this.#said !== '') this.#print(`\n${paint('bold', 'agent')}  ${this.#said}`)
    this.#said = ''
  }

  #retry({ code, discardsOutput }: StreamChunk & { type: 'model_retry' }): void {
    if (discardsOutput) this.#said = ''
    this.#print(paint('dim', `the model call is made again: ${code}`))
  }

  #toolStart(chunk: StreamChunk & { type: 'tool_start' }): void {
    const tool = shortName(chunk.toolName)
    this.#startedAt.set(chunk.toolCallId, chunk.timestamp)
    this.tally.calls[tool] = (this.tally.calls[tool] ?? 0) + 1
    this.tally.argumentBytes += bytesOf(chunk.arguments)
    this.#print(`  ${paint('cyan', '▸')} ${tool} ${paint('dim', subjectOf(chunk.arguments))}`)
  }

  #toolEnd(chunk: StreamChunk & { type: 'tool_end' }): void {
    const startedAt = this.#startedAt.get(chunk.toolCallId) ?? chunk.timestamp
    const durationMs = chunk.timestamp - startedAt
    this.tally.toolMs += durationMs
    this.tally.resultBytes += bytesOf(chunk.result)
    this.#count(chunk)
    const outcome = chunk.success ? outcomeOf(chunk.result) : (chunk.error?.message ?? '')
    const isWell = chunk.success && !/^exit [^0]/.test(outcome)
    const mark = isWell ? paint('green', '✓') : paint('red', '✗')
    const details = paint('dim', `${durationMs} ms  ${outcome}`.trimEnd())
    this.#print(`  ${mark} ${shortName(chunk.toolName)} ${details}`)
  }

  #count({ success, error }: StreamChunk & { type: 'tool_end' }): void {
    // What the user has denied did not fail.
    if (!success && error?.code !== 'denied') this.tally.failedCalls++
    if (error?.code === 'outcome-unknown') this.tally.unknownCalls++
  }

  #lines(text: string): void {
    for (const line of text.trimEnd().split('\n')) this.#print(`    ${paint('dim', '│')} ${line}`)
  }
}

function decisionOf({ decision, by }: StreamChunk & { type: 'approval_resolved' }): string {
  const words = { approve: 'approved', deny: 'denied' } as const
  const word = decision === 'approve' || decision === 'deny' ? words[decision] : decision
  return by === undefined ? word : `${word} by ${by}`
}

/** Colour on a terminal only. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}

function shortName(toolName: string): string {
  return toolName.replace(/^workspace__/, '').replace('__', '.')
}

/** What a call is about: its path, command or pattern. */
function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const { command, pattern, path, name } = input as Readonly<Record<string, unknown>>
  const subject = [command, pattern, path, name].find((value) => typeof value === 'string')
  return typeof subject === 'string' ? subject : ''
}

/** What a result says in a few words, by the field that tells one tool from another. */
const outcomes: Readonly<Record<string, (value: unknown) => string>> = {
  exitCode: (code) => `exit ${String(code)}`,
  summary: String,
  replacements: (count) => (count === 1 ? '1 replacement' : `${String(count)} replacements`),
  found: (count) => (count === 1 ? '1 match' : `${String(count)} matches`),
  total: (count) => (count === 1 ? '1 entry' : `${String(count)} entries`),
  size: (bytes) => `${String(bytes)} bytes`,
}

function outcomeOf(result: unknown): string {
  if (typeof result !== 'object' || result === null) return ''
  const fields = result as Readonly<Record<string, unknown>>
  const key = Object.keys(outcomes).find((name) => name in fields)
  return key === undefined ? '' : (outcomes[key]?.(fields[key]) ?? '')
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}

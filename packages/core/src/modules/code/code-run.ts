import {
  cutMiddle,
  limitText,
  MAX_RESULT_CHARACTERS,
  omissionNotice,
} from '../../tools/result-budget.ts'
import type { ModelOutput, ModelOutputPart } from '../../tools/model-output.ts'
import type { ModuleToolContext } from '../define-module.ts'
import { decodeText } from '../fs/text/bytes.ts'
import { plainTerminalText } from '../shell/output/terminal-text.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import type { CodeOutput, RunCodeOptions, RunCodeResult } from './contract.ts'

/** Media beyond these bounds is named, not shown. */
const MAX_MEDIA_BYTES = 5 * 1024 * 1024
const MAX_MEDIA_PARTS = 10
const MAX_ERROR_CHARACTERS = 4000

/** One output of a snippet; plain JSON. */
export type CodeRunOutput =
  | { readonly type: 'stdout' | 'stderr'; readonly text: string }
  | { readonly type: 'result'; readonly value: unknown }
  /** Text for `text/*`, JSON and SVG. */
  | { readonly type: 'display'; readonly mime: string; readonly text: string }
  /** `base64` is absent for a medium that is too large. */
  | {
      readonly type: 'media'
      readonly mime: string
      readonly bytes: number
      readonly base64?: string
    }

/** What a snippet gave, cut to the budget of a tool result. */
export interface CodeRun {
  readonly exitCode: number
  readonly outputs: readonly CodeRunOutput[]
  readonly error?: RunCodeResult['error']
}

/** Options of a run whose output is shown while it runs. */
export function liveRunOptions(context: ModuleToolContext): RunCodeOptions {
  return {
    signal: context.signal,
    onOutput: async (output) => {
      if (output.type === 'stdout' || output.type === 'stderr') {
        context.progress(output.type, output.data)
      }
    },
  }
}

/** Joins pieces of one stream, and cuts the whole to the budget. */
export function captureCodeRun(result: RunCodeResult): CodeRun {
  const collector = new OutputCollector()
  for (const output of joinStreams(result.outputs)) collector.add(output)
  const { exitCode, error } = result
  return { exitCode, outputs: collector.outputs, ...(error && { error: cutError(error) }) }
}

/** A run as the model reads it. */
export function renderCodeRun(run: CodeRun): ModelOutput {
  const parts = run.outputs.map(renderOutput)
  if (run.error !== undefined) parts.push(textPart(renderError(run.error)))
  const empty = parts.length === 0 ? '; no output' : ''
  if (run.exitCode !== 0 || empty !== '')
    parts.push(textPart(`[exit code ${run.exitCode}${empty}]`))
  const media = parts.filter((part) => part.type === 'media')
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (media.length === 0) return text
  return text === '' ? media : [textPart(text), ...media]
}

class OutputCollector {
  readonly outputs: CodeRunOutput[] = []
  #characters = MAX_RESULT_CHARACTERS
  #mediaBytes = MAX_MEDIA_BYTES
  #mediaParts = MAX_MEDIA_PARTS

  add(output: CodeOutput): void {
    if (output.type === 'result') return this.#addResult(output.value)
    if (output.type === 'display') return this.#addDisplay(output.mime, output.data)
    const text = this.#take(decodeText(output.data))
    if (text !== '') this.outputs.push({ type: output.type, text })
  }

  #addResult(value: unknown): void {
    if (value === undefined || value === null) return
    const text = valueText(value)
    const shown = this.#take(text)
    this.outputs.push({ type: 'result', value: shown === text ? value : shown })
  }

  #addDisplay(mime: string, data: Uint8Array): void {
    if (isTextMime(mime)) {
      const text = this.#take(decodeText(data))
      if (text !== '') this.outputs.push({ type: 'display', mime, text })
      return
    }
    const fits = this.#mediaParts > 0 && data.length <= this.#mediaBytes
    const output = { type: 'media', mime, bytes: data.length } as const
    this.outputs.push(fits ? { ...output, base64: encodeBase64(data) } : output)
    if (!fits) return
    this.#mediaParts--
    this.#mediaBytes -= data.length
  }

  #take(text: string): string {
    const { head, tail, omittedCharacters } = cutMiddle(text, this.#characters)
    this.#characters -= head.length + tail.length
    return omittedCharacters === 0 ? text : `${head}\n${omissionNotice(omittedCharacters)}\n${tail}`
  }
}

function* joinStreams(outputs: readonly CodeOutput[]): Generator<CodeOutput> {
  let type: 'stdout' | 'stderr' = 'stdout'
  let pieces: Uint8Array[] = []
  for (const output of outputs) {
    const isStream = output.type === 'stdout' || output.type === 'stderr'
    if (pieces.length > 0 && output.type !== type) {
      yield { type, data: concat(pieces) }
      pieces = []
    }
    if (isStream) {
      type = output.type
      pieces.push(output.data)
    } else yield output
  }
  if (pieces.length > 0) yield { type, data: concat(pieces) }
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    whole.set(piece, offset)
    offset += piece.length
  }
  return whole
}

function renderOutput(output: CodeRunOutput): ModelOutputPart {
  switch (output.type) {
    case 'stdout':
      return textPart(trimEnd(plainTerminalText(output.text)))
    case 'stderr':
      return textPart(`[stderr]\n${trimEnd(plainTerminalText(output.text))}`)
    case 'result':
      return textPart(`[result] ${valueText(output.value)}`)
    case 'display':
      return textPart(`[display ${output.mime}]\n${output.text}`)
    default:
      return renderMedia(output)
  }
}

function renderMedia(output: CodeRunOutput & { readonly type: 'media' }): ModelOutputPart {
  const { mime, bytes, base64 } = output
  if (base64 === undefined || !mime.startsWith('image/')) {
    return textPart(`[display ${mime}, ${bytes} bytes, not shown]`)
  }
  return { type: 'media', mediaType: mime, data: decodeBase64(base64) }
}

function renderError({ name, message, trace }: NonNullable<CodeRun['error']>): string {
  return `[error] ${name}: ${message}${trace === undefined ? '' : `\n${plainTerminalText(trace)}`}`
}

function cutError(error: NonNullable<RunCodeResult['error']>): NonNullable<CodeRun['error']> {
  const { name, message, trace } = error
  return {
    name,
    message: limitText(message, MAX_ERROR_CHARACTERS),
    ...(trace !== undefined && { trace: limitText(trace, MAX_ERROR_CHARACTERS) }),
  }
}

/** Values come from interpreters as JSON, or as what they print; a provider may do otherwise. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `[a ${typeof value} that is not JSON]`
  }
}

function isTextMime(mime: string): boolean {
  return mime.startsWith('text/') || mime.endsWith('json') || mime === 'image/svg+xml'
}

function textPart(text: string): ModelOutputPart {
  return { type: 'text', text }
}

function trimEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

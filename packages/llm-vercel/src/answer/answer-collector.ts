import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { ModelError } from '@helix-agents/core'
import { contentLimits, type StepCallbacks } from '@helix-agents/core/runtime'
import { AnswerParts } from './answer-parts.ts'
import { StreamFailure } from '../failure/stream-failure.ts'

/** How the provider ended its answer. */
export interface AnswerEnd {
  readonly reason: LanguageModelV4FinishReason
  readonly usage: LanguageModelV4Usage
}

/** Assembles an answer from the parts of its stream, and emits them. */
export class AnswerCollector {
  readonly parts = new AnswerParts()
  readonly #callbacks: StepCallbacks
  #end: AnswerEnd | undefined
  #hasSpoken = false
  #characters = 0

  constructor(callbacks: StepCallbacks) {
    this.#callbacks = callbacks
  }

  /** Absent until the provider has ended the answer. */
  get end(): AnswerEnd | undefined {
    return this.#end
  }

  /** Whether anything was emitted. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /**
   * @throws {StreamFailure} for an error in the stream.
   * @throws {ModelError} `answer-too-large` as soon as the answer is over the limit of a session.
   */
  add(part: LanguageModelV4StreamPart): void {
    this.#characters += sizeOf(part)
    if (this.#characters > contentLimits.maxCharacters) throw new ModelError('answer-too-large')
    switch (part.type) {
      case 'tool-call':
        if (part.providerExecuted !== true) this.parts.call(part)
        return
      case 'finish':
        this.#end = { reason: part.finishReason, usage: part.usage }
        return
      case 'error':
        throw new StreamFailure(part.error)
      default:
        return this.#addPiece(part)
    }
  }

  #addPiece(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#addText(part)
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#addReasoning(part)
      case 'tool-input-start':
      case 'tool-input-delta':
        return this.#addToolInput(part)
      default:
    }
  }

  #addText(part: Extract<LanguageModelV4StreamPart, { type: `text-${string}` }>): void {
    const delta = part.type === 'text-delta' ? part.delta : ''
    this.parts.extend('text', part.id, { delta, metadata: part.providerMetadata })
    if (delta === '') return
    this.#hasSpoken = true
    this.#callbacks.onTextDelta?.(delta)
  }

  #addReasoning(part: Extract<LanguageModelV4StreamPart, { type: `reasoning-${string}` }>): void {
    if (part.type === 'reasoning-file') return
    const delta = part.type === 'reasoning-delta' ? part.delta : ''
    const block = this.parts.extend('reasoning', part.id, {
      delta,
      metadata: part.providerMetadata,
    })
    const isWhole = part.type === 'reasoning-end'
    const content = isWhole ? block.text : delta
    if (content === '') return
    this.#hasSpoken = true
    this.#callbacks.onThinking?.(content, isWhole)
  }

  #addToolInput(
    part: Extract<LanguageModelV4StreamPart, { type: 'tool-input-start' | 'tool-input-delta' }>,
  ): void {
    if (part.type === 'tool-input-start') {
      if (part.providerExecuted !== true) this.parts.startInput(part.id, part.toolName)
      return
    }
    const toolName = this.parts.extendInput(part.id, part.delta)
    if (toolName === undefined || part.delta === '') return
    this.#hasSpoken = true
    this.#callbacks.onToolInput?.({ toolCallId: part.id, toolName, delta: part.delta })
  }
}

/** Counts each part for something: there may be any number of empty ones. */
function sizeOf(part: LanguageModelV4StreamPart): number {
  if ('delta' in part) return part.delta.length + 1
  return part.type === 'tool-call' ? part.input.length + part.toolName.length + 1 : 1
}

import type { LanguageModelV4 } from '@ai-sdk/provider'
import {
  ModelError,
  type StepInput,
  type StepResult,
  type TokenUsage,
  type ToolCall,
} from '@helix-agents/core'
import { isPlainWord } from '../failure/plain-word.ts'
import { writeRecord } from '../prompt/answer-record.ts'
import { familyOf } from '../prompt/model-family.ts'
import type { AnswerEnd } from './answer-collector.ts'
import type { AnswerParts, Block, CallBlock } from './answer-parts.ts'

/** A whole answer. */
export interface Answer {
  readonly parts: AnswerParts
  readonly end: AnswerEnd
  readonly usage: TokenUsage | undefined
}

/**
 * What an answer is for the run.
 * @throws {ModelError} for an answer that its provider calls none.
 */
export function toStepResult(answer: Answer, input: StepInput, model: LanguageModelV4): StepResult {
  const { parts, end, usage } = answer
  assertUsable(end)
  const calls = parts.blocks.filter((block) => block.kind === 'call')
  const content = textOf(parts, 'text')
  const said = {
    stopReason: end.reason.unified,
    ...(usage !== undefined && { usage }),
    ...thinkingOf(parts),
    ...metadataOf(parts, model),
  }
  if (calls.length > 0) {
    const isCutOff = end.reason.unified === 'length'
    const toolCalls = calls.map((call) => toToolCall(call, isCutOff))
    return { ...said, type: 'tool_calls', content, toolCalls }
  }
  const output = input.config.responseSchema === undefined ? NONE : parseJson(content)
  if (output === NONE) return { ...said, type: 'text', content, shouldStop: true }
  return {
    type: 'structured_output',
    output,
    stopReason: end.reason.unified,
    ...(usage !== undefined && { usage }),
  }
}

function assertUsable({ reason: { unified, raw } }: AnswerEnd): void {
  if (unified === 'content-filter') throw new ModelError('content-filtered', detailOf(raw))
  if (unified === 'interrupted') throw new ModelError('connection-lost')
  // The packages of the SDK say so of a stream that ended before its provider said why.
  if (unified === 'other' && raw === undefined) throw new ModelError('connection-lost')
  if (unified !== 'error') return
  const isMalformed = /malformed|tool_use_failed/i.test(raw ?? '')
  const code = isMalformed ? 'malformed-tool-call' : 'model-failed'
  throw new ModelError(code, { retryable: true, ...detailOf(raw) })
}

function detailOf(raw: string | undefined): { readonly detail?: string } {
  return raw !== undefined && isPlainWord(raw) ? { detail: raw } : {}
}

function textOf({ blocks }: AnswerParts, kind: 'text' | 'reasoning'): string {
  return blocks.map((block) => (block.kind === kind ? block.text : '')).join('')
}

function thinkingOf(parts: AnswerParts): { readonly thinking?: string } {
  const thinking = textOf(parts, 'reasoning')
  return thinking === '' ? {} : { thinking }
}

function metadataOf({ blocks }: AnswerParts, model: LanguageModelV4) {
  const parts = blocks.map((block: Block) => ({
    kind: block.kind,
    length: block.kind === 'call' ? 0 : block.text.length,
    ...(block.metadata !== undefined && { metadata: block.metadata }),
  }))
  const providerMetadata = writeRecord({ provider: familyOf(model).provider, parts })
  return providerMetadata === undefined ? {} : { providerMetadata }
}

const NONE = Symbol('no JSON')

function toToolCall({ id, name, text, isComplete }: CallBlock, isCutOff: boolean): ToolCall {
  // A call without arguments; in an answer that was cut off they may still have been to come.
  const isEmpty = text.trim() === '' && isComplete && !isCutOff
  const given = isEmpty ? {} : parseJson(text)
  if (given !== NONE && isComplete) return { id, name, arguments: given }
  return { id, name, arguments: text, problem: isCutOff ? 'truncated' : 'malformed' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NONE
  }
}

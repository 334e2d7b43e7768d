import type {
  AssistantMessage,
  FilePart,
  Message,
  ModelOutput,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from '@helix-agents/core'
import { encodeBase64 } from '@helix-agents/core/provider'
import type { JournalEntry, SessionRequest } from '@helix-agents/core/runtime'
import type { DynamicToolUIPart, FileUIPart, UIMessage } from 'ai'
import { partIdOf } from './request-parts.ts'
import { isOfSubAgent, toMetadata } from './ui-request.ts'

type Part = UIMessage['parts'][number]

/** Options of `toUIMessages`. */
export interface UIMessagesOptions {
  /** Place of the first message in the conversation. Default: 0. */
  readonly firstId?: number
  /**
   * Requests of the session, all pages of `executor.listRequests`: a call that waits is a tool
   * approval, and one that was denied says so. Default: none.
   */
  readonly requests?: readonly SessionRequest[]
  /** The journal of the session: results of the step that waits, which are no messages. Default: none. */
  readonly journal?: readonly JournalEntry[]
}

/**
 * Stored messages, as a chat of the AI SDK shows them: what an agent says from one message of the
 * user to the next is one assistant message. Ids are places in the list: give all messages, or the
 * id of the first one.
 */
export function toUIMessages(
  messages: readonly Message[],
  { firstId = 0, requests = [], journal = [] }: UIMessagesOptions = {},
): UIMessage[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message]] : [])),
  )
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  const shown: UIMessage[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue
    const id = `message-${firstId + index}`
    if (message.role === 'user') shown.push({ id, role: 'user', parts: userParts(message) })
    else {
      const step = index === last ? stepUnderWay(results, requests, journal) : { results, requests }
      addAnswer(shown, id, assistantParts(message, step))
    }
  }
  addSubAgents(shown, requests)
  return shown
}

/** What sub-agents ask is a part of the last answer. */
function addSubAgents(shown: readonly UIMessage[], requests: readonly SessionRequest[]): void {
  const asked = requests.filter((request) => isOfSubAgent(request) && isOpen(request))
  const answer = shown.at(-1)
  if (answer?.role === 'assistant') answer.parts.push(...asked.map(toAskedPart))
}

function addAnswer(shown: UIMessage[], id: string, parts: Part[]): void {
  const last = shown.at(-1)
  if (last?.role === 'assistant') last.parts.push(...parts)
  else shown.push({ id, role: 'assistant', parts })
}

/** What is known of the calls of one answer of the model. */
interface Step {
  readonly results: ReadonlyMap<string, ToolResultMessage>
  readonly requests: readonly SessionRequest[]
}

/** Results that are not among the messages are of the last step. */
function stepUnderWay(
  stored: ReadonlyMap<string, ToolResultMessage>,
  requests: readonly SessionRequest[],
  journal: readonly JournalEntry[],
): Step {
  const recorded = journal.flatMap(({ toolCallId, result }) =>
    result === undefined ? [] : [[toolCallId, result.message] as const],
  )
  return { results: new Map([...stored, ...recorded]), requests }
}

function userParts({ content, files = [] }: UserMessage): Part[] {
  const text: Part[] = content === '' ? [] : [{ type: 'text', text: content }]
  return [...text, ...files.map(toFile)]
}

function toFile({ data, mediaType, filename }: FilePart): FileUIPart {
  return {
    type: 'file',
    mediaType,
    url: toAddress(data, mediaType),
    ...(filename !== undefined && { filename }),
  }
}

function toAddress(data: Uint8Array | string, mediaType: string): string {
  if (typeof data !== 'string') return `data:${mediaType};base64,${encodeBase64(data)}`
  return /^(?:https?|data):/i.test(data) ? data : `data:${mediaType};base64,${data}`
}

function assistantParts(
  { content, thinking = '', toolCalls = [] }: AssistantMessage,
  { results, requests }: Step,
): Part[] {
  const parts: Part[] = [{ type: 'step-start' }]
  if (thinking !== '') parts.push({ type: 'reasoning', text: thinking, state: 'done' })
  if (content !== '') parts.push({ type: 'text', text: content, state: 'done' })
  for (const call of toolCalls) {
    const request = requests.findLast((one) => isAbout(one, call))
    parts.push(toToolPart(call, results.get(call.id), request))
  }
  return parts
}

/** Ids of calls are unique in their step only. */
function isAbout(request: SessionRequest, call: ToolCall): boolean {
  const { toolCallId, toolName, arguments: given } = request
  if (isOfSubAgent(request) || toolCallId !== call.id || toolName !== call.name) return false
  return given === JSON.stringify(call.arguments ?? {})
}

function toToolPart(
  call: ToolCall,
  result: ToolResultMessage | undefined,
  request: SessionRequest | undefined,
): DynamicToolUIPart {
  if (result === undefined && request !== undefined) return toAskedPart(request)
  const denied = request && deniedPart(request)
  if (denied !== undefined) return denied
  const { id: toolCallId, name: toolName, arguments: input } = call
  const base = { type: 'dynamic-tool', toolName, toolCallId, input } as const
  if (result === undefined) return { ...base, state: 'input-available' }
  const { content, isError = false } = result
  if (isError) return { ...base, state: 'output-error', errorText: toText(content) }
  return { ...base, state: 'output-available', output: toOutput(content) }
}

function isOpen({ resolution }: SessionRequest): boolean {
  return resolution === undefined
}

/** Its result says so to the model. */
function deniedPart(request: SessionRequest): DynamicToolUIPart | undefined {
  const part = toAskedPart(request)
  if (part.state !== 'approval-responded' || part.approval.approved) return undefined
  return { ...part, state: 'output-denied', approval: { ...part.approval, approved: false } }
}

/** A call that has no result, as its request stands. */
function toAskedPart(request: SessionRequest): DynamicToolUIPart {
  const { requestId: id, toolName, kind, preview, resolution } = request
  const base = {
    type: 'dynamic-tool',
    toolName,
    toolCallId: partIdOf(request),
    input: JSON.parse(editedArguments(request) ?? request.arguments) as unknown,
    toolMetadata: toMetadata(request),
  } as const
  if (kind !== 'approval') return { ...base, state: 'input-available' }
  const approval = { id, requestReason: preview.title }
  if (resolution === undefined) return { ...base, state: 'approval-requested', approval }
  const approved = resolution.decision === 'approve'
  const { reason } = { reason: approved ? undefined : resolution.decision, ...resolution }
  const answered = { ...approval, approved, ...(reason !== undefined && { reason }) }
  return { ...base, state: 'approval-responded', approval: answered }
}

function editedArguments({ resolution }: SessionRequest): string | undefined {
  return resolution?.decision === 'approve' ? resolution.editedArguments : undefined
}

function toText(content: ModelOutput): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`))
    .join('\n')
}

/** What the model has read; bytes become addresses. */
function toOutput(content: ModelOutput): unknown {
  if (typeof content === 'string') return content
  return content.map((part) =>
    part.type === 'text'
      ? part
      : { type: 'media', mediaType: part.mediaType, url: toAddress(part.data, part.mediaType) },
  )
}

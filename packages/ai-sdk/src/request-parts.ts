import type { SessionRequest, StreamChunk } from '@helix-agents/core/runtime'
import { isToolUIPart, type UIMessage, type UIMessageChunk } from 'ai'
import { isOfSubAgent, requestOf, toMetadata, type UIRequest } from './ui-request.ts'

type ChunkOf<T extends StreamChunk['type']> = Extract<StreamChunk, { readonly type: T }>

/** A call that a person is asked about, and its part of the message. */
interface Asked {
  readonly partId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly request: UIRequest
}

/** The requests of one message, as tool approvals of the AI SDK. */
export class RequestParts {
  /** By request. */
  readonly #asked = new Map<string, Asked>()

  /** @param continues the message as it is */
  constructor(continues?: UIMessage) {
    for (const part of continues?.parts ?? []) {
      const request = requestOf(part)
      if (request === undefined || !isToolUIPart(part)) continue
      const { toolCallId, input } = part
      const toolName = part.type === 'dynamic-tool' ? part.toolName : part.type
      this.#keep({ partId: toolCallId, toolCallId, toolName, input, request })
    }
  }

  /** Whether a person still has to answer. */
  get isWaiting(): boolean {
    return [...this.#asked.values()].some(({ request }) => request.resolution === undefined)
  }

  ask(chunk: ChunkOf<'approval_request'>): readonly UIMessageChunk[] {
    const { requestId, toolCallId, toolName, kind, preview, agentPath, expiresAt } = chunk
    const request = {
      requestId,
      kind,
      preview,
      agentPath,
      ...(expiresAt !== undefined && { expiresAt }),
    }
    return said(
      this.#keep({
        partId: partIdOf(chunk),
        toolCallId,
        toolName,
        input: chunk.arguments,
        request,
      }),
    )
  }

  resolve(chunk: ChunkOf<'approval_resolved'>): readonly UIMessageChunk[] {
    const asked = this.#asked.get(chunk.requestId)
    if (asked === undefined) return []
    const { decision, by, reason } = chunk
    const resolution = {
      decision,
      ...(by !== undefined && { by }),
      ...(reason !== undefined && { reason }),
    }
    const resolved = this.#keep({ ...asked, request: { ...asked.request, resolution } })
    // A request that took its place has the part.
    if (decision === 'cancelled' && this.#find(asked.partId) !== resolved) return []
    // The result of another kind comes with the end of the call.
    return asked.request.kind === 'approval' ? said(resolved) : []
  }

  /** The call has started: `undefined` for one without a request. */
  start(chunk: ChunkOf<'tool_start'>): readonly UIMessageChunk[] | undefined {
    const asked = this.#find(chunk.toolCallId)
    if (asked === undefined) return undefined
    const input = chunk.arguments
    if (JSON.stringify(input) === JSON.stringify(asked.input)) return []
    // The user has edited it.
    return said(this.#keep({ ...asked, input }))
  }

  /** `undefined` for a call without a request, and for one that is open in the chat. */
  end(
    chunk: ChunkOf<'tool_end'>,
    errorText: (error: ChunkOf<'tool_end'>['error']) => string,
  ): readonly UIMessageChunk[] | undefined {
    const asked = this.#find(chunk.toolCallId)
    return asked === undefined ? undefined : this.#end(asked, chunk, errorText)
  }

  /** The end of a call of a sub-agent that was asked about; nothing for others. */
  endOfSubAgent(
    chunk: ChunkOf<'tool_end'>,
    errorText: (error: ChunkOf<'tool_end'>['error']) => string,
  ): readonly UIMessageChunk[] {
    const { toolCallId, toolName, agentType } = chunk
    const asked = [...this.#asked.values()].findLast(
      ({ request, ...other }) =>
        isOfSubAgent(request) &&
        request.agentPath.at(-1) === agentType &&
        (other.toolCallId === toolCallId || other.toolCallId === request.requestId) &&
        other.toolName === toolName,
    )
    return asked === undefined ? [] : this.#end(asked, chunk, errorText)
  }

  #end(
    { partId: toolCallId, request }: Asked,
    { success, result, error }: ChunkOf<'tool_end'>,
    errorText: (error: ChunkOf<'tool_end'>['error']) => string,
  ): readonly UIMessageChunk[] {
    const { kind, resolution } = request
    const isDenied = resolution !== undefined && resolution.decision !== 'approve'
    if (kind === 'approval' && isDenied) return []
    const decision = success ? 'output' : 'deny'
    const toolMetadata = toMetadata({ ...request, resolution: resolution ?? { decision } })
    return success
      ? [{ type: 'tool-output-available', toolCallId, output: result ?? null, toolMetadata }]
      : [{ type: 'tool-output-error', toolCallId, errorText: errorText(error), toolMetadata }]
  }

  #find(partId: string): Asked | undefined {
    return [...this.#asked.values()].findLast((asked) => asked.partId === partId)
  }

  #keep(asked: Asked): Asked {
    this.#asked.set(asked.request.requestId, asked)
    return asked
  }
}

/** Id of the part: the calls of sub-agents are no parts, and their ids may be those of others. */
export function partIdOf(
  request: Pick<SessionRequest, 'requestId' | 'toolCallId' | 'agentPath'>,
): string {
  return isOfSubAgent(request) ? request.requestId : request.toolCallId
}

/** The part as it stands, whole: the message may not have it yet. */
function said({ partId: toolCallId, toolName, input, request }: Asked): UIMessageChunk[] {
  const { requestId: approvalId, kind, preview, resolution } = request
  const toolMetadata = toMetadata(request)
  const call: UIMessageChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    dynamic: true,
    toolMetadata,
  }
  if (kind !== 'approval') return [call]
  const reason = preview.title
  const ask: UIMessageChunk = { type: 'tool-approval-request', approvalId, toolCallId, reason }
  if (resolution === undefined) return [call, ask]
  const approved = resolution.decision === 'approve'
  const why = resolution.reason ?? (approved ? undefined : resolution.decision)
  const answer: UIMessageChunk = {
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...(why !== undefined && { reason: why }),
  }
  return approved
    ? [call, ask, answer]
    : [call, ask, answer, { type: 'tool-output-denied', toolCallId }]
}

import type { JsonValue } from '@helix-agents/core'
import type { RequestKind, RequestPreview, RequestResolution } from '@helix-agents/core/runtime'
import { type DynamicToolUIPart, isToolUIPart, type UIMessage } from 'ai'

type Part = UIMessage['parts'][number]
type Metadata = NonNullable<DynamicToolUIPart['toolMetadata']>

/** What a part of a tool call says of the request behind it, as `toolMetadata.request`. */
export interface UIRequest {
  readonly requestId: string
  readonly kind: RequestKind
  readonly preview: Omit<RequestPreview, 'basis'>
  /** Names of the agents from the root to the one that asks. */
  readonly agentPath: readonly string[]
  /** Milliseconds since the epoch; absent for a request that does not expire. */
  readonly expiresAt?: number
  /** How it was decided; absent while it is open. */
  readonly resolution?: {
    readonly decision: RequestResolution['decision']
    /** Who answered, as the caller of `respond` says. */
    readonly by?: string
    readonly reason?: string
  }
}

/** An answer that a chat has and the server does not. */
export interface UIRequestAnswer {
  readonly requestId: string
  /** For `respond`. */
  readonly answer:
    | { readonly decision: 'approve' | 'deny'; readonly reason?: string }
    | { readonly decision: 'output'; readonly output: JsonValue }
}

/** The request behind a part of a message; `undefined` for a part without a request. */
export function requestOf(part: Part): UIRequest | undefined {
  const request = isToolUIPart(part) ? part.toolMetadata?.request : undefined
  if (typeof request !== 'object' || request === null || !('requestId' in request)) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this package writes it
  return request as unknown as UIRequest
}

/** The answers of a user that the server has not acted on, from the last message of a chat. */
export function toRequestAnswers(message: UIMessage | undefined): UIRequestAnswer[] {
  return (message?.parts ?? []).flatMap((part) => {
    const request = requestOf(part)
    const answer = isToolUIPart(part) && request?.resolution === undefined && answerOf(part)
    return request === undefined || answer === false || answer === undefined
      ? []
      : [{ requestId: request.requestId, answer }]
  })
}

/** Whether the last message has such answers: for `sendAutomaticallyWhen` of `useChat`. */
export function hasRequestAnswers({ messages }: { readonly messages: UIMessage[] }): boolean {
  return toRequestAnswers(messages.at(-1)).length > 0
}

type ToolPart = Extract<Part, { readonly toolCallId: string }>

function answerOf(part: ToolPart): UIRequestAnswer['answer'] | undefined {
  if (part.state === 'approval-responded') {
    const { approved, reason } = part.approval
    return { decision: approved ? 'approve' : 'deny', ...(reason !== undefined && { reason }) }
  }
  if (part.state === 'output-available') {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is sent as JSON
    return { decision: 'output', output: part.output as JsonValue }
  }
  return part.state === 'output-error' ? { decision: 'deny', reason: part.errorText } : undefined
}

/** The request as `toolMetadata`, which holds JSON. */
export function toMetadata({ preview, agentPath, ...request }: UIRequest): Metadata {
  const { title, body, format, truncated } = preview
  const { requestId, kind, expiresAt, resolution } = request
  return {
    request: {
      requestId,
      kind,
      preview: {
        title,
        ...(body !== undefined && { body }),
        ...(format !== undefined && { format }),
        ...(truncated !== undefined && { truncated }),
      },
      agentPath: [...agentPath],
      ...(expiresAt !== undefined && { expiresAt }),
      ...(resolution !== undefined && { resolution: toResolution(resolution) }),
    },
  }
}

/** What a chat may know of it. */
function toResolution({ decision, by, reason }: NonNullable<UIRequest['resolution']>) {
  return { decision, ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) }
}

/** Whether a sub-agent asks, and not the agent of the chat. */
export function isOfSubAgent({ agentPath }: Pick<UIRequest, 'agentPath'>): boolean {
  return agentPath.length > 1
}

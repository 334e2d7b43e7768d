import type { Message } from '@helix-agents/core'
import type { Checkpoint, SessionRequest, SessionState } from '@helix-agents/core/runtime'

export interface SessionLinks {
  readonly self: string
  readonly messages: string
  readonly stream: string
  readonly requests: string
}

/** A session as clients see it: no refs, since those say where the files are. */
export function toSessionView(session: SessionState, base: string): object {
  const { sessionId, agentType, status, stepCount, messageCount, createdAt, updatedAt } = session
  const workspaces = Object.entries(session.workspaceRefs).map(([name, { providerId }]) => ({
    name,
    provider: providerId,
  }))
  return {
    sessionId,
    agent: agentType,
    status,
    stepCount,
    messageCount,
    createdAt,
    updatedAt,
    workspaces,
    ...(session.output !== undefined && { output: session.output }),
    ...(session.error !== undefined && { error: session.error }),
    links: linksOf(base),
  }
}

export function linksOf(base: string): SessionLinks {
  return {
    self: `${base}/state`,
    messages: `${base}/messages`,
    stream: `${base}/stream`,
    requests: `${base}/requests`,
  }
}

/** A message as JSON: bytes are named by their size. */
export function toMessageView(message: Message): unknown {
  return JSON.parse(
    JSON.stringify(message, (_, value: unknown) =>
      ArrayBuffer.isView(value) ? { bytes: value.byteLength } : value,
    ),
  )
}

/** A checkpoint as clients see it: without the state and the refs that it keeps. */
export function toCheckpointView(checkpoint: Checkpoint): object {
  const { id, stepCount, messageCount, status, createdAt } = checkpoint
  return { id, stepCount, messageCount, status, createdAt }
}

/** A request as those see it who may answer: without what only the store needs to know. */
export function toRequestView(request: SessionRequest): object {
  const { basis: _basis, ...preview } = request.preview
  const { subject: _subject, ...shown } = request
  return { ...shown, preview }
}

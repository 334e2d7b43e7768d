import type { Message } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'

/** A session as clients see it: no refs, since those say where the files are. */
export function toSessionView(session: SessionState) {
  const { sessionId, status, stepCount, messageCount, createdAt, updatedAt } = session
  const workspaces = Object.entries(session.workspaceRefs).map(([name, { providerId }]) => ({
    name,
    provider: providerId,
  }))
  return {
    sessionId,
    status,
    stepCount,
    messageCount,
    createdAt,
    updatedAt,
    workspaces,
    ...(session.output !== undefined && { output: session.output }),
    ...(session.error !== undefined && { error: session.error }),
    links: linksOf(sessionId),
  }
}

export function linksOf(sessionId: string) {
  const self = `/sessions/${encodeURIComponent(sessionId)}`
  return { self, messages: `${self}/messages`, stream: `${self}/stream` }
}

/** A message as JSON: bytes are named by their size. */
export function toMessageView(message: Message): unknown {
  return JSON.parse(
    JSON.stringify(message, (_, value: unknown) =>
      ArrayBuffer.isView(value) ? { bytes: value.byteLength } : value,
    ),
  )
}

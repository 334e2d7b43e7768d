/** The session of a sub-agent call: known before the call starts, and the same after a crash. */
export function subSessionIdOf(parentSessionId: string, stepCount: number, index: number): string {
  return `${subSessionPrefix(parentSessionId)}s${stepCount + 1}-${index}`
}

/** How the ids of all sub-agent calls of a session begin, those of its sub-agents included. */
export function subSessionPrefix(sessionId: string): string {
  return `${sessionId}/`
}

/** Whether an id is that of a sub-agent call of a session, or of one of its sub-agents. */
export function isSubSessionId(id: string, sessionId: string): boolean {
  return id.startsWith(sessionId) && /^(?:\/s\d+-\d+)+$/.test(id.slice(sessionId.length))
}

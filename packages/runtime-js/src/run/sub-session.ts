/** The session of a sub-agent call: known before the call starts, and the same after a crash. */
export function subSessionIdOf(
  parent: { readonly sessionId: string; readonly stepCount: number },
  index: number,
): string {
  return `${parent.sessionId}/s${parent.stepCount + 1}-${index}`
}

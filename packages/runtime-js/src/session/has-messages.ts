import type { RunServices } from '../ports.ts'

/** Whether messages of a session wait for its next run. */
export async function hasMessages(
  { stateStore }: Pick<RunServices, 'stateStore'>,
  sessionId: string,
): Promise<boolean> {
  const { steering, followUps } = await stateStore.loadSignals(sessionId)
  return steering + followUps > 0
}

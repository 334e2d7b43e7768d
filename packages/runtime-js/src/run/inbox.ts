import type { MessageDelivery, QueuedMessage } from '@helix-agents/core/runtime'
import type { Run, RunInbox } from '../ports.ts'

/** Between two looks at what other processes want of a run, in milliseconds. */
const POLL_MS = 500

/**
 * Moves queued messages into the conversation, oldest first.
 * @param delivery Default: all of them.
 * @returns how many there were
 */
export async function deliverQueued(run: Run, delivery?: MessageDelivery): Promise<number> {
  const { services, sessionId, inbox, messages } = run
  inbox.mayHaveMessages = false
  const { stateStore } = services
  const queued = await stateStore.listQueuedMessages(sessionId, delivery)
  if (queued.length === 0) return 0
  const messageIds = queued.map(({ messageId }) => messageId)
  const delivered = await stateStore.deliverMessages({ ...run.lease.write(), messageIds })
  messages.push(...delivered.map(({ message }) => message))
  return delivered.length
}

/** A message was queued in this process: its run delivers it before the next model call. */
export function onQueued(
  { inbox, chunks }: Run,
  { messageId, delivery }: Pick<QueuedMessage, 'messageId' | 'delivery'>,
): void {
  if (delivery === 'steer') inbox.mayHaveMessages = true
  chunks.emit('message_queued', { messageId, delivery })
}

/** Learns of messages and stops that other processes have stored; the result ends that. */
export function watchSignals(run: Run): () => void {
  const { services, sessionId, runId } = run
  const { stateStore, clock, logger } = services
  let cancel: (() => void) | undefined
  let hasEnded = false
  const look = async (): Promise<void> => {
    try {
      const { stop, steering } = await stateStore.loadSignals(sessionId)
      if (hasEnded) return
      if (steering > 0) run.inbox.mayHaveMessages = true
      if (stop === 'interrupt') run.control.interrupt()
      if (stop === 'abort') run.control.stop('aborted')
    } catch (err) {
      logger.warn({ err, sessionId, runId }, 'signals of session not loaded')
    }
    schedule()
  }
  const schedule = (): void => {
    if (!hasEnded) cancel = clock.setTimer(POLL_MS, () => void look())
  }
  schedule()
  return () => {
    hasEnded = true
    cancel?.()
  }
}

/** What a run knows of its queued messages when it begins. */
export function createInbox(mayHaveMessages: boolean): RunInbox {
  return { mayHaveMessages }
}

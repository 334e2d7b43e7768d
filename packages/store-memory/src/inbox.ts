import type { MessageDelivery, QueuedMessage, StopRequest } from '@helix-agents/core/runtime'

/** Messages and stops that other processes have for one session. */
export class Inbox {
  #queued: QueuedMessage[] = []
  /** Of all that were ever queued: one that is sent again is not stored again. */
  readonly #ids = new Set<string>()
  #stop: StopRequest | undefined

  get stop(): StopRequest | undefined {
    return this.#stop
  }

  queue(message: QueuedMessage): void {
    if (this.#ids.has(message.messageId)) return
    this.#ids.add(message.messageId)
    this.#queued.push(message)
  }

  list(delivery?: MessageDelivery): readonly QueuedMessage[] {
    return this.#queued.filter((each) => delivery === undefined || each.delivery === delivery)
  }

  /** Removes messages; resolves to those that were there, in the order given. */
  take(messageIds: readonly string[]): readonly QueuedMessage[] {
    const taken = messageIds.flatMap((id) => this.#queued.filter((each) => each.messageId === id))
    this.#queued = this.#queued.filter((each) => !taken.includes(each))
    return [...new Set(taken)]
  }

  requestStop(stop: StopRequest): void {
    if (this.#stop !== 'abort') this.#stop = stop
  }

  clearStop(): void {
    this.#stop = undefined
  }
}

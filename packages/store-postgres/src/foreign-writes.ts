import { randomUUID } from 'node:crypto'
import { SqlError } from '@helix-agents/store-sql'
import type { Client } from 'pg'
import type { Connections } from './connections.ts'
import type { PostgresSettings } from './postgres-options.ts'
import type { Notified } from './replay.ts'

type Listener = (streams?: readonly number[], replaced?: readonly number[]) => void

const CHANNEL = 'helix_streams'
/**
 * One transaction notifies at a time, and holds up the others until it is committed: it does not wait for
 * the disk. What is lost in a crash of the server is a notification, and each reader lost its connection.
 */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)"
/** A notification has less than 8 000 bytes. */
const MAX_STREAMS = 400
const RECONNECT_MS = 500

/**
 * Wakes readers when other processes have written. A notification only wakes: what changed stands in
 * the rows, and a poll finds what was not notified. Neither keeps the process alive.
 */
export class ForeignWrites {
  readonly #connections: Connections
  readonly #settings: PostgresSettings
  readonly #listeners = new Set<Listener>()
  /** Marks the notifications of this process. */
  readonly #origin = randomUUID()
  readonly #changed = new Set<number>()
  readonly #replaced = new Set<number>()
  #client: Client | undefined
  #cancelPoll: (() => void) | undefined
  #connects = false
  #notifying: Promise<void> | undefined
  #isClosed = false

  constructor(connections: Connections, settings: PostgresSettings) {
    this.#connections = connections
    this.#settings = settings
  }

  /** Calls `listener` soon after another process has written. The result stops that. */
  listen(listener: Listener): () => void {
    // Two listeners may be one function.
    const own: Listener = (streams, replaced) => listener(streams, replaced)
    this.#listeners.add(own)
    if (this.#cancelPoll === undefined) this.#schedule()
    this.#connect()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#stopPolling()
    }
  }

  /** Wakes the readers of other processes. Streams that change meanwhile go together. */
  notify({ streams, replaced }: Notified): void {
    for (const stream of streams) this.#changed.add(stream)
    for (const stream of replaced) this.#replaced.add(stream)
    this.#notifying ??= this.#notifyAll()
  }

  /** Waits until what was committed is notified: the process may end after that. */
  async flush(): Promise<void> {
    while (this.#notifying !== undefined) await this.#notifying
  }

  /** Calls the listeners once more: what they wait for does not come any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopPolling()
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
    const client = this.#client
    // Whoever waits for the end must not find the process gone before it.
    if (client !== undefined && 'ref' in client && typeof client.ref === 'function') client.ref()
    await client?.end()
  }

  #wake(streams?: readonly number[], replaced?: readonly number[]): void {
    for (const listener of this.#listeners) listener(streams, replaced)
  }

  #schedule(): void {
    const { clock, pollMs } = this.#settings
    this.#cancelPoll = clock.setTimer(pollMs, () => {
      this.#schedule()
      this.#wake()
    })
  }

  #stopPolling(): void {
    this.#cancelPoll?.()
    this.#cancelPoll = undefined
  }

  /** Listens, also later, when nobody waits: the next reader waits soon. */
  #connect(): void {
    const { listen } = this.#settings
    if (!listen || this.#isClosed || this.#connects || this.#client !== undefined) return
    this.#connects = true
    void this.#listenUntilLost().finally(() => {
      this.#connects = false
      this.#client = undefined
      if (!this.#isClosed && this.#listeners.size > 0) {
        this.#settings.clock.setTimer(RECONNECT_MS, () => this.#connect())
      }
    })
  }

  async #listenUntilLost(): Promise<void> {
    try {
      const client = await this.#connections.open()
      this.#client = client
      const { promise: lost, resolve } = Promise.withResolvers<void>()
      client.once('end', resolve)
      client.on('notification', ({ payload = '' }) => this.#receive(payload))
      await client.query(`LISTEN ${CHANNEL}`)
      if ('unref' in client && typeof client.unref === 'function') client.unref()
      // What was written before is in the rows.
      this.#wake()
      if (this.#isClosed) await client.end()
      await lost
    } catch (error) {
      // The server cannot be reached: whoever reads is told, and this goes on by polls.
      if (!(error instanceof Error)) throw error
    }
  }

  #receive(payload: string): void {
    const [origin, streams = '', replaced] = payload.split(':')
    if (origin === this.#origin) return
    if (streams === '') this.#wake()
    // An earlier release does not say which were replaced.
    else this.#wake(toNumbers(streams), replaced === undefined ? undefined : toNumbers(replaced))
  }

  async #notifyAll(): Promise<void> {
    while (this.#changed.size > 0) {
      const size = this.#changed.size + this.#replaced.size
      const streams = size > MAX_STREAMS ? [] : [...this.#changed]
      const replaced = size > MAX_STREAMS ? [] : [...this.#replaced]
      this.#changed.clear()
      this.#replaced.clear()
      await this.#send(`${this.#origin}:${streams.join(',')}:${replaced.join(',')}`)
    }
    this.#notifying = undefined
  }

  /** A notification that is lost is made up for by the polls of the readers. */
  async #send(payload: string): Promise<void> {
    const notify = { statement: NOTIFY, values: [CHANNEL, payload] }
    try {
      await this.#connections.with((connection) => connection.ask(notify))
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
    }
  }
}

function toNumbers(list: string): readonly number[] {
  return list === '' ? [] : list.split(',').map(Number)
}

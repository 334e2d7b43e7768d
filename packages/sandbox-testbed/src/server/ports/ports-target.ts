import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventSink, eventStream } from '../commands/event-stream.ts'
import { dataEvent, timestamp } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import { ServiceTarget } from '../service-target.ts'

export interface PortWatchRequest {
  readonly port: number
  readonly mode: 'http' | 'tcp'
  readonly path?: string
  readonly statusMin?: number
  readonly statusMax?: number
  readonly processId?: string
  /** Milliseconds between two probes. */
  readonly interval?: number
}

const INTERVAL_MS = 500
const PATIENCE_MS = 5000

/** `ports`: waits until something listens. */
export class PortsTarget extends ServiceTarget {
  /** Events: `watching`, then one of `ready`, `process_exited` and `error`. */
  watchPort(request: PortWatchRequest): ReadableStream<Uint8Array> {
    const { port } = request
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new ServiceError('INVALID_PORT', `port ${port} cannot be watched`, { port })
    }
    const { stream, sink } = eventStream(this.connection.closed)
    sink.write(dataEvent({ type: 'watching', port }))
    void this.#watch(request, sink)
    return stream
  }

  async #watch(request: PortWatchRequest, sink: EventSink): Promise<void> {
    const { port, processId } = request
    while (sink.open) {
      const status = await probe(request)
      if (status !== undefined) {
        return finish(sink, {
          type: 'ready',
          port,
          ...(status !== 0 && { statusCode: status }),
        })
      }
      const process = processId === undefined ? undefined : this.container.processes.get(processId)
      if (process !== undefined && process.view().status !== 'running') {
        return finish(sink, { type: 'process_exited', port, exitCode: process.exitCode })
      }
      await sleep(request.interval ?? INTERVAL_MS)
    }
  }
}

function finish(sink: EventSink, event: object): void {
  sink.write(dataEvent({ ...event, timestamp: timestamp() }))
  sink.end()
}

/** The status that answered, 0 for a bare connection, undefined for nothing yet. */
async function probe(request: PortWatchRequest): Promise<number | undefined> {
  if (request.mode === 'tcp') return (await accepts(request.port)) ? 0 : undefined
  try {
    const response = await fetch(`http://127.0.0.1:${request.port}${request.path ?? '/'}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await response.body?.cancel()
    const { statusMax = 399, statusMin = 200 } = request
    const { status } = response
    return status >= statusMin && status <= statusMax ? status : undefined
  } catch {
    // There is no listener, or no answer.
    return undefined
  }
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ port, host: '127.0.0.1', timeout: PATIENCE_MS })
  const settle = (isOpen: boolean): void => {
    socket.destroy()
    resolve(isOpen)
  }
  socket.once('connect', () => settle(true))
  socket.once('error', () => settle(false))
  socket.once('timeout', () => settle(false))
  return promise
}

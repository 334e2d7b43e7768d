import { createServer } from 'node:http'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** What is served of a worker. */
export interface ServedWorker {
  health(): { readonly state: string }
  /** In the text format of Prometheus. */
  metrics?(): string
}

/** A server for the health of a worker. */
export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves `GET /healthz`: 200 while the worker runs turns, else 503; and `GET /metrics`.
 *
 * @param port 0 takes a free one.
 * @throws {CommandError} when the port cannot be had.
 */
export async function serveHealth(port: number, worker: ServedWorker): Promise<HealthServer> {
  const server = createServer(({ method, url }, response) => {
    const path = method === 'GET' ? url?.split('?')[0] : undefined
    if (path === '/metrics' && worker.metrics !== undefined) {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      return response.end(worker.metrics())
    }
    const health = path === '/healthz' ? worker.health() : undefined
    const status = health === undefined ? 404 : health.state === 'running' ? 200 : 503
    response.writeHead(status, { 'content-type': 'application/json' })
    return response.end(JSON.stringify(health ?? { error: 'not-found' }))
  })
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(port, listening.resolve)
  await listening.promise.catch((cause: unknown) => {
    throw new CommandError(exitCodes.unreachable, `port ${port} cannot be used`, { cause })
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { createServer } from 'node:http'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** A server for the health of a worker. */
export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves `GET /healthz`: 200 while the worker runs turns, else 503.
 *
 * @param port 0 takes a free one.
 * @throws {CommandError} when the port cannot be had.
 */
export async function serveHealth(
  port: number,
  health: () => { readonly state: string },
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const isHealth = request.method === 'GET' && request.url?.split('?')[0] === '/healthz'
    const body = isHealth ? health() : { error: 'not-found' }
    const status = isHealth ? (health().state === 'running' ? 200 : 503) : 404
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
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

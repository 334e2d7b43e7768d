import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { answerCall } from './docker-api.ts'
import { ContainerStore, type StoreSettings } from './container/container-store.ts'
import { failure, writeAnswer } from './http-answer.ts'
import { createPeerTest } from './container/own-peers.ts'

/** A container engine of our own, on a unix socket. */
export interface LocalEngine {
  readonly socketPath: string
  readonly store: ContainerStore
  /** Ends the containers, the sidecars and the socket. */
  readonly stop: () => Promise<void>
}

export interface LocalEngineSettings extends Omit<StoreSettings, 'isOwnPeer'> {
  readonly socketPath: string
  /** Gets one line for each request. */
  readonly log?: (line: string) => void
}

/** Starts an engine that speaks the part of the Docker Engine API that workerd calls. */
export async function startLocalEngine(settings: LocalEngineSettings): Promise<LocalEngine> {
  const store = new ContainerStore({ ...settings, isOwnPeer: await createPeerTest() })
  const server = createServer((request, response) => {
    void serve(store, request, response).then((status) =>
      settings.log?.(`${request.method} ${request.url} ${status}`),
    )
  })
  // `wait` answers when a container ends, hours later.
  server.requestTimeout = 0
  server.listen(settings.socketPath)
  await once(server, 'listening')
  return {
    socketPath: settings.socketPath,
    store,
    stop: async () => {
      await store.clear()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(
  store: ContainerStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const answer = await answerCall(store, request).catch((error: unknown) =>
    failure(500, String(error)),
  )
  writeAnswer(response, answer)
  return answer.status
}

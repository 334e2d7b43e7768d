import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { DockerClient } from './docker-client.ts'
import { textAt } from '../json-text.ts'

/** The port of a networking sidecar, published somewhere on the loopback. */
export const SIDECAR_PORT = '39001/tcp'
const LOOK_MS = 50

/**
 * Waits until a networking sidecar that was started answers.
 *
 * @param name of its container.
 * @throws {Error} when it publishes no port, or does not answer in time.
 */
export async function untilSidecarAnswers(
  client: DockerClient,
  name: string,
  limitMs: number,
): Promise<void> {
  const details = await client.call('GET', `/containers/${name}/json`)
  const port = textAt(details, ['NetworkSettings', 'Ports', SIDECAR_PORT, 0, 'HostPort'])
  if (port === undefined) throw new Error('it publishes no port of the networking sidecar')
  const deadline = AbortSignal.timeout(limitMs)
  while (!(await answers(`http://127.0.0.1:${port}/ca`, deadline))) {
    if (deadline.aborted) throw new Error('the networking sidecar does not answer on its port')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const [answer]: IncomingMessage[] = await once(get(url, { signal, agent: false }), 'response')
    answer?.resume()
    return answer?.statusCode === 200
  } catch {
    // Not yet.
    return false
  }
}

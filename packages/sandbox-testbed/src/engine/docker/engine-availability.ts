import type { ContainerImage } from '../../root/image.ts'
import { containerImages } from '../../sandbox-image.ts'
import { createDockerClient, type DockerClient, EngineRefusal } from './docker-client.ts'
import { textAt } from '../json-text.ts'
import { tryEngine } from './try-engine.ts'

/** How long an engine may take for one answer before it counts as unusable. */
const ANSWER_MS = 10_000
const TRANSPORTS_LABEL = 'dev.helix-agents.sandbox.transports'

/** Whether a real container engine can be used here, and why not. */
export type ContainerEngineAvailability =
  | {
      readonly available: true
      readonly socketPath: string
      /** The image of the containers. */
      readonly image: string
      /** What the server in that image answers: `rpc`, `http`, `websocket`. */
      readonly transports: readonly string[]
    }
  | {
      readonly available: false
      /** No engine, one without the images, or one that cannot run them. */
      readonly problem: 'absent' | 'images-missing' | 'unusable'
      readonly reason: string
    }

type Unavailable = Extract<ContainerEngineAvailability, { readonly available: false }>

/**
 * Whether a real container engine answers, at `DOCKER_HOST` or the default socket, has the
 * images, and can run them: the images of Cloudflare, or those that `HELIX_SANDBOX_IMAGE` and
 * `MINIFLARE_CONTAINER_EGRESS_IMAGE` name. Starts one pair of containers for a moment; pulls
 * nothing, and never takes longer than some seconds.
 *
 * @param image of the SDK that is asked for; default `default`, which has no Python.
 */
export async function containerEngineAvailability(
  image?: ContainerImage,
): Promise<ContainerEngineAvailability> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  if (!host.startsWith('unix://')) {
    return reject('unusable', `workerd needs a unix socket, DOCKER_HOST is ${host}`)
  }
  const socketPath = host.slice('unix://'.length)
  const client = createDockerClient(socketPath, ANSWER_MS)
  try {
    await client.call('GET', '/_ping')
  } catch (error) {
    if (isAbsent(error)) return reject('absent', `no container engine at ${socketPath}`)
    return reject('unusable', `the engine at ${socketPath} does not answer: ${String(error)}`)
  }
  return inspectEngine(client, socketPath, image)
}

async function inspectEngine(
  client: DockerClient,
  socketPath: string,
  image?: ContainerImage,
): Promise<ContainerEngineAvailability> {
  const images = containerImages(image)
  try {
    const missing = await missingImages(client, [images.image, images.sidecarImage])
    if (missing.length > 0) {
      const names = missing.join(' and ')
      return reject('images-missing', `the engine at ${socketPath} lacks images; pull ${names}`)
    }
    await tryEngine(client, images)
    const transports = await transportsOf(client, images.image)
    return { available: true, socketPath, image: images.image, transports }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return reject('unusable', `the engine at ${socketPath} cannot run a sandbox: ${text}`)
  }
}

function reject(problem: Unavailable['problem'], reason: string): Unavailable {
  return { available: false, problem, reason }
}

function isAbsent(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENOTSOCK'].includes(String(error.code))
}

/** workerd is not to pull anything in the middle of a test. */
async function missingImages(client: DockerClient, images: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const image of new Set(images)) {
    try {
      await client.call('GET', `/images/${image}/json`)
    } catch (error) {
      if (!(error instanceof EngineRefusal) || error.status !== 404) throw error
      missing.push(image)
    }
  }
  return missing
}

/** An image that is not the one of the SDK says what it answers. */
async function transportsOf(client: DockerClient, image: string): Promise<readonly string[]> {
  const answer = await client.call('GET', `/images/${image}/json`)
  const label = textAt(answer, ['Config', 'Labels', TRANSPORTS_LABEL])
  return label?.split(',') ?? ['rpc', 'http', 'websocket']
}

import type { Faults } from '../faults/fault-set.ts'
import type { RunningSandbox } from '../running-sandbox.ts'
import { IMAGE } from '../sandbox-image.ts'
import { SandboxTestbedError } from '../testbed-error.ts'
import { isContainerOf, ownerOf } from './container-name.ts'
import { type DockerClient, createDockerClient } from './docker-client.ts'
import type { TestbedEngine } from './testbed-engine.ts'

/** The image for outbound interception that belongs to the installed workerd. */
const SIDECAR_IMAGE = 'cloudflare/proxy-everything:3cb1195'

/** Whether a real container engine can be used here, and why not. */
export type ContainerEngineAvailability =
  | { readonly available: true; readonly socketPath: string }
  | { readonly available: false; readonly reason: string }

const NO_FAULTS: Faults = {
  inject: () => {
    const reason = 'faults are made by the local engine; a real container engine has none on demand'
    throw new SandboxTestbedError('faults-unsupported', reason)
  },
  clear: () => undefined,
}

/**
 * Tells whether a real container engine answers, `DOCKER_HOST` or the default socket, and has the
 * images.
 */
export async function containerEngineAvailability(): Promise<ContainerEngineAvailability> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  if (!host.startsWith('unix://')) {
    return { available: false, reason: `workerd needs a unix socket, DOCKER_HOST is ${host}` }
  }
  const socketPath = host.slice('unix://'.length)
  const client = createDockerClient(socketPath)
  try {
    await client.call('GET', '/_ping')
  } catch (error) {
    return { available: false, reason: `no container engine at ${socketPath}: ${String(error)}` }
  }
  const missing = await missingImages(client)
  if (missing.length === 0) return { available: true, socketPath }
  const reason = `the engine at ${socketPath} lacks images; pull ${missing.join(' and ')}`
  return { available: false, reason }
}

/** workerd makes containers and pulls nothing. */
async function missingImages(client: DockerClient): Promise<string[]> {
  const images = [IMAGE, SIDECAR_IMAGE]
  const found = await Promise.allSettled(
    images.map((image) => client.call('GET', `/images/${image}/json`)),
  )
  return images.filter((_, index) => found[index]?.status === 'rejected')
}

/**
 * Takes a real container engine. Containers of the Worker are removed at the end.
 *
 * @param worker name of the Worker, part of the names of its containers.
 * @throws {SandboxTestbedError} engine-unavailable
 */
export async function connectDockerEngine(worker: string): Promise<TestbedEngine> {
  const found = await containerEngineAvailability()
  if (!found.available) throw new SandboxTestbedError('engine-unavailable', found.reason)
  const client = createDockerClient(found.socketPath)
  const running = async (): Promise<Listed[]> => listed(client, `workerd-${worker}-`)
  const find = async (sandbox: string): Promise<Listed[]> =>
    (await running()).filter(({ name }) => isContainerOf(name, sandbox))
  return {
    kind: 'docker',
    isolation: undefined,
    faults: NO_FAULTS,
    docker: { socketPath: found.socketPath, image: IMAGE, sidecarImage: SIDECAR_IMAGE },
    running: async () => (await running()).filter(({ name }) => ownerOf(name)).map(describe),
    find: async (sandbox) => (await find(sandbox)).map(describe)[0],
    end: async (sandbox, signal) => {
      for (const { id } of await find(sandbox)) {
        await client.call('POST', `/containers/${id}/kill?signal=${signal}`)
        await client.call('POST', `/containers/${id}/wait`)
      }
    },
    stop: async () => {
      for (const { id } of await running()) {
        await client.call('DELETE', `/containers/${id}?force=true`)
      }
    },
  }
}

interface Listed {
  readonly id: string
  readonly name: string
}

async function listed(client: DockerClient, prefix: string): Promise<Listed[]> {
  const filters = encodeURIComponent(JSON.stringify({ name: [prefix] }))
  const answer = await client.call('GET', `/containers/json?filters=${filters}`)
  if (!Array.isArray(answer)) return []
  return answer
    .map(({ Id, Names }: { Id: string; Names: string[] }) => ({
      id: Id,
      name: (Names[0] ?? '').replace(/^\//, ''),
    }))
    .filter(({ name }) => name.startsWith(prefix))
}

function describe({ name }: Listed): RunningSandbox {
  return { objectId: ownerOf(name)?.objectId ?? name, pid: undefined, root: '', output: '' }
}

import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Faults } from '../../faults/fault-set.ts'
import type { RunningSandbox } from '../../running-sandbox.ts'
import type { ContainerImage } from '../../root/image.ts'
import { containerImages } from '../../sandbox-image.ts'
import { isAlive } from '../../testbed-directory.ts'
import { SandboxTestbedError } from '../../testbed-error.ts'
import { isContainerOf, ownerOf } from '../container/container-name.ts'
import { type DockerClient, createDockerClient, EngineRefusal } from './docker-client.ts'
import { containerEngineAvailability } from './engine-availability.ts'
import { startPatientSocket } from './patient-socket.ts'
import type { TestbedEngine } from '../testbed-engine.ts'

const NO_FAULTS: Faults = {
  inject: () => {
    const reason = 'faults are made by the local engine; a real container engine has none on demand'
    throw new SandboxTestbedError('faults-unsupported', reason)
  },
  clear: () => undefined,
}

/**
 * Name for a Worker without one. Its containers outlive this process, so it says whose they
 * are: an engine may be shared by machines whose process ids mean nothing here.
 */
export function ownWorkerName(): string {
  return `${ownPrefix()}${process.pid}`
}

/**
 * Takes a real container engine. Containers of the Worker are removed at the end, and those of
 * processes that are gone at once.
 *
 * @param worker name of the Worker, part of the names of its containers.
 * @param socketPath where workerd is to find the engine.
 * @param image of the SDK.
 * @throws {SandboxTestbedError} engine-unavailable
 */
export async function connectDockerEngine(
  worker: string,
  socketPath: string,
  image?: ContainerImage,
): Promise<TestbedEngine> {
  const found = await containerEngineAvailability(image)
  if (!found.available) throw new SandboxTestbedError('engine-unavailable', found.reason)
  const client = createDockerClient(found.socketPath)
  const prefix = `workerd-${worker}-`
  const running = async (): Promise<Listed[]> => listed(client, prefix)
  const find = async (sandbox: string): Promise<Listed[]> =>
    (await running()).filter(({ name }) => isContainerOf(name, sandbox))
  await removeDead(client)
  const patient = await startPatientSocket(found.socketPath, socketPath)
  return {
    kind: 'docker',
    isolation: undefined,
    faults: NO_FAULTS,
    docker: { socketPath, ...containerImages(image) },
    running: async () => (await running()).filter(({ name }) => ownerOf(name)).map(describe),
    find: async (sandbox) => (await find(sandbox)).map(describe)[0],
    end: async (sandbox, signal) => {
      for (const { id } of await find(sandbox)) await end(client, id, signal)
    },
    stop: async () => {
      await patient.stop()
      await removeAll(client, await listed(client, prefix, 'all'))
    },
  }
}

/** Sends a signal and waits. One that ended or was removed by now has ended too. */
async function end(client: DockerClient, id: string, signal: string): Promise<void> {
  for (const call of [`kill?signal=${signal}`, 'wait']) {
    await ignoring([404, 409], client.call('POST', `/containers/${id}/${call}`))
  }
}

/** Containers of test beds whose process was killed before it could remove them. */
async function removeDead(client: DockerClient): Promise<void> {
  const prefix = `workerd-${ownPrefix()}`
  const all = await listed(client, prefix, 'all')
  const dead = all.filter(({ name }) => {
    const pid = /^\d+(?=-)/.exec(name.slice(prefix.length))?.[0]
    return pid !== undefined && !isAlive(Number(pid))
  })
  await removeAll(client, dead)
}

async function removeAll(client: DockerClient, containers: readonly Listed[]): Promise<void> {
  for (const { id } of containers) {
    // workerd removes them too.
    await ignoring([404, 409], client.call('DELETE', `/containers/${id}?force=true&v=true`))
  }
}

async function ignoring(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof EngineRefusal) || !statuses.includes(error.status)) throw error
  }
}

/** The same for all processes that see the process ids of this one. */
function ownPrefix(): string {
  const place = `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  return `testbed-${createHash('sha256').update(place).digest('hex').slice(0, 8)}-`
}

interface Listed {
  readonly id: string
  readonly name: string
}

async function listed(client: DockerClient, prefix: string, which?: 'all'): Promise<Listed[]> {
  const filters = encodeURIComponent(JSON.stringify({ name: [prefix] }))
  const all = which === 'all'
  const answer = await client.call('GET', `/containers/json?all=${all}&filters=${filters}`)
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

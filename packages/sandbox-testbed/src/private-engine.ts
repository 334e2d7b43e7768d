import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isContainerOf, ownerOf } from './engine/container/container-name.ts'
import type { Container } from './engine/container/container.ts'
import type { ContainerStore } from './engine/container/container-store.ts'
import { startLocalEngine } from './engine/local-engine.ts'
import type { TestbedEngine } from './engine/testbed-engine.ts'
import { FaultSet } from './faults/fault-set.ts'
import { chooseIsolation, type IsolationChoice } from './root/choose-isolation.ts'
import { type ContainerImage, prepareImage } from './root/image.ts'
import type { ContainerLimits } from './root/mount-plan.ts'
import type { RunningSandbox } from './running-sandbox.ts'
import { IMAGE, SERVER_VERSION } from './sandbox-image.ts'
import { provideServerFile } from './server-bundle.ts'
import { directoryProblem, refuseClosedDirectory, socketPathIn } from './testbed-directory.ts'

const DEFAULT_LIMITS: ContainerLimits = {
  processes: 512,
  fileBytes: 4 * 2 ** 30,
  memoryBytes: 4 * 2 ** 30,
}
/** A server that does not go by itself is killed, as the platform does after its own grace. */
const SLEEP_GRACE_MS = 5000

export interface PrivateEngineOptions {
  /** Folder of the test bed. */
  readonly directory: string
  readonly image?: ContainerImage
  readonly interpretersAhead?: number
  readonly line?: '0.12' | '0.13'
  readonly costs?: 'none' | 'recorded'
  readonly isolation?: IsolationChoice
  readonly limits?: Partial<ContainerLimits>
  readonly onLog?: (line: string) => void
}

/**
 * Starts the engine whose containers are processes in private roots.
 *
 * @throws {SandboxTestbedError} directory-unusable, installation-incomplete, isolation-unavailable
 */
export async function startPrivateEngine(options: PrivateEngineOptions): Promise<TestbedEngine> {
  try {
    return await start(options)
  } catch (error) {
    throw directoryProblem(options.directory, error)
  }
}

async function start(options: PrivateEngineOptions): Promise<TestbedEngine> {
  const { directory, onLog, image = 'default', interpretersAhead = 3 } = options
  refuseClosedDirectory(directory)
  const isolation = await chooseIsolation(options.isolation ?? 'auto')
  const serverFile = join(directory, 'server.mjs')
  await provideServerFile(serverFile)
  const disks = join(directory, 'disks')
  mkdirSync(disks)
  // Apart from the making: there the umask of the process would take away.
  chmodSync(disks, 0o711)
  const faults = new FaultSet(isContainerOf)
  const { store, socketPath, stop } = await startLocalEngine({
    isolation,
    faults,
    socketPath: socketPathIn(directory),
    directory: disks,
    image: prepareImage(join(directory, 'image'), serverFile, image),
    imageName: image,
    interpretersAhead,
    line: options.line ?? '0.12',
    costs: options.costs ?? 'none',
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    serverVersion: SERVER_VERSION,
    ...(onLog !== undefined && { log: onLog }),
  })
  return {
    kind: 'local',
    isolation: isolation.kind,
    faults,
    docker: { socketPath, image: IMAGE, sidecarImage: 'sidecar' },
    running: async () => running(store).map(describe),
    find: async (sandbox) => running(store, sandbox).map(describe)[0],
    end: async (sandbox, signal) => {
      await Promise.all(running(store, sandbox).map((container) => end(container, signal)))
    },
    stop,
  }
}

function running(store: ContainerStore, sandbox?: string): Container[] {
  return [...store.containers.values()].filter(
    ({ state, name }) =>
      state === 'running' && (sandbox === undefined || isContainerOf(name, sandbox)),
  )
}

function describe({ name, pid, root, output }: Container): RunningSandbox {
  const objectId = ownerOf(name)?.objectId ?? name
  return { objectId, pid, root: root.directory, output: String(output) }
}

async function end(container: Container, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  container.signal(signal)
  const timer = setTimeout(() => container.signal('SIGKILL'), SLEEP_GRACE_MS)
  await container.exited
  clearTimeout(timer)
}

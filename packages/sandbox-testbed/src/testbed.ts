import { join } from 'node:path'
import type { Miniflare } from 'miniflare'
import { CleanUp } from './clean-up.ts'
import { connectDockerEngine, ownWorkerName } from './engine/docker/docker-engine.ts'
import type { TestbedEngine } from './engine/testbed-engine.ts'
import type { Faults } from './faults/fault-set.ts'
import { HostGuard } from './host-guard.ts'
import { refuseOldNode } from './node-version.ts'
import { startPrivateEngine } from './private-engine.ts'
import type { IsolationChoice } from './root/choose-isolation.ts'
import type { ContainerImage } from './root/image.ts'
import type { ContainerLimits } from './root/mount-plan.ts'
import { removeTree } from './root/private-root.ts'
import type { RunningSandbox } from './running-sandbox.ts'
import { SandboxTestbedError } from './testbed-error.ts'
import { makeTestbedDirectory, reapDeadTestbeds, socketPathIn } from './testbed-directory.ts'
import { bundleWorker } from './worker/worker-bundle.ts'
import type { TestbedMiniflare } from './worker/testbed-miniflare.ts'
import { createWorker, disposeWorker, untilReady } from './worker/testbed-worker.ts'
import type { WorkerSettings } from './worker/worker-settings.ts'

/** How a test bed is to be. */
export interface SandboxTestbedOptions {
  /** The Worker; it exports `Sandbox` of `@cloudflare/sandbox`. */
  readonly worker: WorkerSettings
  /**
   * `local` (default): our own engine and container server. `docker`: a real container engine and
   * the image of the SDK.
   */
  readonly engine?: 'local' | 'docker'
  /**
   * Which image of the SDK containers are made of: `default`, which has no Python; `python`, with
   * Python and IPython; `plain-python`, with Python alone, as only the local engine has it. A real
   * engine takes the tag of that name, unless `HELIX_SANDBOX_IMAGE` names another image.
   */
  readonly image?: ContainerImage
  /**
   * How many interpreters of each language a container has started ahead, in what `/workspace` was
   * then; 3. With 0, as in an image of your own, each starts when a context is made. For the local
   * engine.
   */
  readonly interpretersAhead?: number
  /**
   * The line of the SDK that the container server speaks with; default `0.12`. `0.13` is for
   * `0.13.0-next.751.1`: commands, files and backups. For the local engine.
   */
  readonly line?: '0.12' | '0.13'
  /**
   * `recorded`: calls that are cheaper here than on the real server take as long as there, by the
   * medians of server 0.12.7; default `none`. For the local engine.
   */
  readonly costs?: 'none' | 'recorded'
  /** Isolation of containers from the host, with the local engine. Default `auto`. */
  readonly isolation?: IsolationChoice
  /** Limits of each container; 512 processes, files and processes of 4 GiB. For the local engine. */
  readonly limits?: Partial<ContainerLimits>
  /** Folder for the data of Durable Objects and buckets, kept afterwards; default: none is kept. */
  readonly persistTo?: string
  /** Port of the Worker on the loopback; default: any free one. */
  readonly port?: number
  /** Gets each line that the Worker logs, and one for each request to the engine. */
  readonly onLog?: (line: string) => void
  /** Gives a start up, between two of its steps; does nothing to a test bed that has started. */
  readonly signal?: AbortSignal
}

/** A Cloudflare Sandbox on this machine: Worker, Durable Objects, containers. */
export interface SandboxTestbed extends AsyncDisposable {
  /** Address of the Worker. */
  readonly url: URL
  readonly engine: 'local' | 'docker'
  /** Isolation of containers from the host; undefined for a real engine. */
  readonly isolation: 'bubblewrap' | 'unshare' | undefined
  /** What goes wrong on demand; a real engine rejects them with `faults-unsupported`. */
  readonly faults: Faults
  /** The Miniflare underneath: buckets, namespaces, bindings. */
  readonly miniflare: TestbedMiniflare
  /** Sends a request to the Worker; a path is enough. */
  fetch(path: string | URL, init?: RequestInit): Promise<Response>
  /** The containers that run now. */
  sandboxes(): Promise<readonly RunningSandbox[]>
  /** The container of a sandbox id, as given to `getSandbox`; undefined while none runs. */
  sandbox(id: string): Promise<RunningSandbox | undefined>
  /**
   * Stops a container as the platform does with an idle one: the disk is gone at the next start.
   *
   * @throws {SandboxTestbedError} sandbox-not-running
   */
  sleepNow(id: string): Promise<void>
  /**
   * Kills a container in the middle of what it does.
   *
   * @throws {SandboxTestbedError} sandbox-not-running
   */
  crash(id: string): Promise<void>
  /** Ends everything and removes what it left; a second call waits for the first. */
  stop(): Promise<void>
}

/**
 * Starts a Cloudflare Sandbox on this machine, without network or Docker: the real SDK in the real
 * workerd, with containers that are processes in private roots.
 *
 * @throws {SandboxTestbedError} directory-unusable, engine-unavailable, installation-incomplete,
 *   isolation-unavailable, start-aborted, worker-build-failed, worker-start-failed; nothing that
 *   was started is left then.
 */
export async function startSandboxTestbed(options: SandboxTestbedOptions): Promise<SandboxTestbed> {
  const cleanUp = new CleanUp()
  try {
    return await start(options, cleanUp)
  } catch (error) {
    // Why it did not start matters more than what could not be undone.
    await cleanUp.run().catch(() => undefined)
    throw error
  }
}

async function start(options: SandboxTestbedOptions, cleanUp: CleanUp): Promise<SandboxTestbed> {
  refuseOldNode()
  throwIfAborted(options.signal)
  const reaping = reapDeadTestbeds()
  cleanUp.add(() => reaping)
  const directory = makeTestbedDirectory()
  const guard = new HostGuard(directory)
  cleanUp.add(() => guard.end())
  cleanUp.add(() => removeTree(directory))
  // One that fails must not leave the other one behind.
  const [engine, code] = await bothOf(
    startEngine(options, directory, cleanUp),
    bundleWorker(options.worker),
  )
  throwIfAborted(options.signal)
  const miniflare = await createWorker(
    code,
    { ...options.worker, name: nameOf(options) },
    {
      ...engine.docker,
      dataDirectory: options.persistTo ?? join(directory, 'worker'),
      temporaryDirectory: directory,
      port: options.port ?? 0,
      onLog: options.onLog,
    },
  )
  cleanUp.add(() => disposeWorker(miniflare))
  const url = await guard.during(untilReady(miniflare))
  throwIfAborted(options.signal)
  return new Testbed({ engine, miniflare, url, cleanUp })
}

async function startEngine(
  options: SandboxTestbedOptions,
  directory: string,
  cleanUp: CleanUp,
): Promise<TestbedEngine> {
  const engine =
    options.engine === 'docker'
      ? await connectDockerEngine(nameOf(options), socketPathIn(directory), options.image)
      : await startPrivateEngine({ ...options, directory })
  cleanUp.add(() => engine.stop())
  return engine
}

/** Waits for the end of both, also when one fails. */
async function bothOf<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return [await one, await other]
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  const cause: unknown = signal.reason
  throw new SandboxTestbedError('start-aborted', 'the start was aborted', { cause })
}

/** Containers of a real engine outlive this process; their names must not meet another's. */
function nameOf({ worker, engine }: SandboxTestbedOptions): string {
  return worker.name ?? (engine === 'docker' ? ownWorkerName() : 'testbed')
}

interface TestbedParts {
  readonly engine: TestbedEngine
  readonly miniflare: Miniflare
  readonly url: URL
  readonly cleanUp: CleanUp
}

class Testbed implements SandboxTestbed {
  readonly url: URL
  readonly miniflare: TestbedMiniflare
  readonly #engine: TestbedEngine
  readonly #cleanUp: CleanUp

  constructor({ engine, miniflare, url, cleanUp }: TestbedParts) {
    this.#engine = engine
    this.miniflare = miniflare
    this.url = url
    this.#cleanUp = cleanUp
  }

  get engine(): 'local' | 'docker' {
    return this.#engine.kind
  }

  get isolation(): 'bubblewrap' | 'unshare' | undefined {
    return this.#engine.isolation
  }

  get faults(): Faults {
    return this.#engine.faults
  }

  fetch(path: string | URL, init?: RequestInit): Promise<Response> {
    const { pathname, search } = new URL(path, this.url)
    // One that is kept may be closed by the server in the moment it is used again.
    const headers = new Headers(init?.headers)
    headers.set('connection', 'close')
    return fetch(new URL(pathname + search, this.url), { ...init, headers })
  }

  sandboxes(): Promise<readonly RunningSandbox[]> {
    return this.#engine.running()
  }

  sandbox(id: string): Promise<RunningSandbox | undefined> {
    return this.#engine.find(id)
  }

  async sleepNow(id: string): Promise<void> {
    await this.#require(id)
    await this.#engine.end(id, 'SIGTERM')
  }

  async crash(id: string): Promise<void> {
    await this.#require(id)
    await this.#engine.end(id, 'SIGKILL')
  }

  async stop(): Promise<void> {
    await this.#cleanUp.run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #require(id: string): Promise<void> {
    if ((await this.sandbox(id)) !== undefined) return
    throw new SandboxTestbedError('sandbox-not-running', `no container runs for sandbox "${id}"`)
  }
}

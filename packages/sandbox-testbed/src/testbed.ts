import type { Miniflare } from 'miniflare'
import { connectDockerEngine } from './engine/docker-engine.ts'
import type { TestbedEngine } from './engine/testbed-engine.ts'
import type { Faults } from './faults/fault-set.ts'
import { startHostGuard } from './host-guard.ts'
import { startPrivateEngine } from './private-engine.ts'
import type { IsolationChoice } from './root/choose-isolation.ts'
import type { ContainerLimits } from './root/mount-plan.ts'
import { removeTree } from './root/private-root.ts'
import type { RunningSandbox } from './running-sandbox.ts'
import { SandboxTestbedError } from './testbed-error.ts'
import { makeTestbedDirectory, reapDeadTestbeds } from './testbed-directory.ts'
import { bundleWorker, startWorker, type WorkerSettings } from './testbed-worker.ts'

/** How a test bed is to be. */
export interface SandboxTestbedOptions {
  /** The Worker; it exports `Sandbox` of `@cloudflare/sandbox`. */
  readonly worker: WorkerSettings
  /**
   * `local` (default): our own engine and container server. `docker`: a real container engine and
   * the image of the SDK.
   */
  readonly engine?: 'local' | 'docker'
  /** How containers are kept from the host; default `auto`. For the local engine. */
  readonly isolation?: IsolationChoice
  /** Limits of each container; 512 processes, files and processes of 4 GiB. For the local engine. */
  readonly limits?: Partial<ContainerLimits>
  /** Folder for the data of Durable Objects and buckets, kept afterwards; default: none is kept. */
  readonly persistTo?: string
  /** Port of the Worker on the loopback; default: any free one. */
  readonly port?: number
  /** Gets each line that the Worker logs, and one for each request to the engine. */
  readonly onLog?: (line: string) => void
}

/** A Cloudflare Sandbox on this machine: Worker, Durable Objects, containers. */
export interface SandboxTestbed extends AsyncDisposable {
  /** Address of the Worker. */
  readonly url: URL
  readonly engine: 'local' | 'docker'
  /** How containers are kept from the host; undefined for a real engine. */
  readonly isolation: 'bubblewrap' | 'unshare' | undefined
  /** What goes wrong on demand; a real engine refuses with `faults-unsupported`. */
  readonly faults: Faults
  /** The Miniflare underneath: buckets, namespaces, bindings. */
  readonly miniflare: Miniflare
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
 * @throws {SandboxTestbedError} isolation-unavailable, engine-unavailable, worker-build-failed
 */
export async function startSandboxTestbed(options: SandboxTestbedOptions): Promise<SandboxTestbed> {
  const directory = makeTestbedDirectory()
  const ends: Array<() => Promise<void>> = [() => removeTree(directory), reapDeadTestbeds]
  try {
    const [engine, code] = await Promise.all([
      startEngine(options, directory, ends),
      bundleWorker(options.worker),
    ])
    const miniflare = await startWorker(
      code,
      { ...options.worker, name: nameOf(options) },
      {
        ...engine.docker,
        dataDirectory: options.persistTo ?? `${directory}/worker`,
        port: options.port ?? 0,
        onLog: options.onLog,
      },
    )
    const endGuard = startHostGuard(directory)
    ends.unshift(() => miniflare.dispose())
    ends.push(async () => endGuard())
    return new Testbed({ engine, miniflare, url: await miniflare.ready, ends })
  } catch (error) {
    for (const end of ends) await end()
    throw error
  }
}

async function startEngine(
  options: SandboxTestbedOptions,
  directory: string,
  ends: Array<() => Promise<void>>,
): Promise<TestbedEngine> {
  const engine =
    options.engine === 'docker'
      ? await connectDockerEngine(nameOf(options))
      : await startPrivateEngine({ ...options, directory })
  ends.unshift(() => engine.stop())
  return engine
}

/** Containers of a real engine outlive this process; their names must not meet another's. */
function nameOf({ worker, engine }: SandboxTestbedOptions): string {
  return worker.name ?? (engine === 'docker' ? `testbed-${process.pid}` : 'testbed')
}

interface TestbedParts {
  readonly engine: TestbedEngine
  readonly miniflare: Miniflare
  readonly url: URL
  readonly ends: ReadonlyArray<() => Promise<void>>
}

class Testbed implements SandboxTestbed {
  readonly url: URL
  readonly miniflare: Miniflare
  readonly #engine: TestbedEngine
  readonly #ends: ReadonlyArray<() => Promise<void>>
  #stopped: Promise<void> | undefined

  constructor({ engine, miniflare, url, ends }: TestbedParts) {
    this.#engine = engine
    this.miniflare = miniflare
    this.url = url
    this.#ends = ends
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
    return fetch(new URL(pathname + search, this.url), init)
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
    this.#stopped ??= this.#stop()
    await this.#stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #stop(): Promise<void> {
    for (const end of this.#ends) await end()
  }

  async #require(id: string): Promise<void> {
    if ((await this.sandbox(id)) !== undefined) return
    throw new SandboxTestbedError('sandbox-not-running', `no container runs for sandbox "${id}"`)
  }
}

import type { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { SandboxTestbedError } from '../testbed-error.ts'
import type { DurableObjectSetting, WorkerSettings } from './worker-settings.ts'

/** Where workerd finds containers and keeps its data. */
export interface WorkerHost {
  readonly socketPath: string
  readonly image: string
  readonly sidecarImage: string
  readonly dataDirectory: string
  /** For what Miniflare keeps while it runs. */
  readonly temporaryDirectory: string
  readonly port: number
  readonly onLog: ((line: string) => void) | undefined
}

/**
 * Makes the Miniflare of a Worker; workerd starts in the background.
 *
 * @throws {SandboxTestbedError} worker-start-failed
 */
export async function createWorker(
  code: string,
  settings: WorkerSettings,
  host: WorkerHost,
): Promise<Miniflare> {
  // Loaded late: it is large, and fails in a Node that is too old.
  const module = await import('miniflare')
  const { TMPDIR } = process.env
  // Read by the constructor, and by nothing else until then: what it keeps there goes with the rest.
  process.env.TMPDIR = host.temporaryDirectory
  try {
    const options = workerOptions(code, settings, host)
    return new module.Miniflare(module.convertV4MiniflareOptions(options))
  } catch (error) {
    throw startFailure(error)
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

/**
 * Waits until the Worker answers.
 *
 * @returns its address.
 * @throws {SandboxTestbedError} worker-start-failed
 */
export async function untilReady(miniflare: Miniflare): Promise<URL> {
  try {
    return await miniflare.ready
  } catch (error) {
    throw startFailure(error)
  }
}

/** Ends workerd. */
export async function disposeWorker(miniflare: Miniflare): Promise<void> {
  const isReady = await miniflare.ready.then(
    () => true,
    () => false,
  )
  const disposal = miniflare.dispose()
  // One that never got ready says so once more.
  await (isReady ? disposal : disposal.catch(() => undefined))
}

function startFailure(error: unknown): SandboxTestbedError {
  const message = error instanceof Error ? error.message : String(error)
  return new SandboxTestbedError('worker-start-failed', message, { cause: error })
}

function workerOptions(
  code: string,
  worker: WorkerSettings,
  host: WorkerHost,
): Parameters<typeof convertV4MiniflareOptions>[0] {
  const { socketPath, sidecarImage, image } = host
  return {
    name: worker.name ?? 'testbed',
    modules: true,
    script: code,
    host: '127.0.0.1',
    port: host.port,
    handleStructuredLogs: ({ message }) => host.onLog?.(message),
    cf: false,
    compatibilityDate: worker.compatibilityDate ?? '2026-10-01',
    compatibilityFlags: [...(worker.compatibilityFlags ?? ['nodejs_compat'])],
    bindings: { SANDBOX_TRANSPORT: 'rpc', ...worker.bindings },
    r2Buckets: [...(worker.r2Buckets ?? ['BACKUP_BUCKET'])],
    durableObjects: durableObjects(worker, image),
    resourcePersistencePath: host.dataDirectory,
    telemetry: { enabled: false },
    containerEngine: {
      localDocker: {
        socketPath: `unix://${socketPath}`,
        containerEgressInterceptorImage: sidecarImage,
      },
    },
  }
}

/** The classes that the Worker has to export. */
export function classesOf(worker: WorkerSettings): string[] {
  return [...new Set(Object.values(settingsOf(worker)).map(({ className }) => className))]
}

function settingsOf({
  durableObjects: given,
}: WorkerSettings): Record<string, DurableObjectSetting> {
  if (given === undefined) return { SANDBOX: { className: 'Sandbox', container: true } }
  const entries = Object.entries(given).map(([binding, setting]) => [
    binding,
    typeof setting === 'string' ? { className: setting } : setting,
  ])
  return Object.fromEntries(entries)
}

interface MiniflareDurableObject {
  readonly className: string
  readonly useSQLite: true
  readonly container?: { readonly imageName: string }
}

function durableObjects(
  worker: WorkerSettings,
  imageName: string,
): Record<string, MiniflareDurableObject> {
  const entries = Object.entries(settingsOf(worker)).map(([binding, setting]) => {
    const { className, container } = setting
    const object = { className, useSQLite: true } as const
    return [binding, container ? { ...object, container: { imageName } } : object] as const
  })
  return Object.fromEntries(entries)
}

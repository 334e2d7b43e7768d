import { build, type BuildOptions } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare, type MiniflareOptions } from 'miniflare'
import { SandboxTestbedError } from './testbed-error.ts'

/** A JSON value, as a binding of a Worker can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue }

/** A class that a Worker exports for Durable Objects. */
export interface DurableObjectSetting {
  readonly className: string
  /** Whether its objects own a container, as the SDK's `Sandbox` does. */
  readonly container?: boolean
}

/** The Worker under test. */
export interface WorkerSettings {
  /** File of the Worker's module, TypeScript or JavaScript. */
  readonly entry?: string
  /** Source of the Worker's module, in place of a file. */
  readonly script?: string
  /** Folder that imports of `script` resolve from; default the working directory. */
  readonly resolveDirectory?: string
  /** Default `testbed`. Part of the identity of Durable Objects. */
  readonly name?: string
  /** Default `{ SANDBOX: { className: 'Sandbox', container: true } }`. */
  readonly durableObjects?: Readonly<Record<string, string | DurableObjectSetting>>
  /** Default `['BACKUP_BUCKET']`. */
  readonly r2Buckets?: readonly string[]
  /** Variables of the Worker; `SANDBOX_TRANSPORT` is `rpc` unless given. */
  readonly bindings?: Readonly<Record<string, JsonValue>>
  /** Default `2026-10-01`. */
  readonly compatibilityDate?: string
  /** Default `['nodejs_compat']`. */
  readonly compatibilityFlags?: readonly string[]
}

/** Where workerd finds containers and keeps its data. */
export interface WorkerHost {
  readonly socketPath: string
  readonly image: string
  readonly sidecarImage: string
  readonly dataDirectory: string
  readonly port: number
  readonly onLog: ((line: string) => void) | undefined
}

/**
 * Bundles a Worker as a deployment would.
 *
 * @throws {SandboxTestbedError} worker-build-failed
 */
export async function bundleWorker(settings: WorkerSettings): Promise<string> {
  try {
    const { outputFiles } = await build({
      ...source(settings),
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      target: 'es2024',
      mainFields: ['module', 'main'],
      conditions: ['@helix-agents/source', 'workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    })
    return outputFiles?.[0]?.text ?? ''
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new SandboxTestbedError('worker-build-failed', message, { cause: error })
  }
}

function source({ entry, script, resolveDirectory }: WorkerSettings): BuildOptions {
  if (entry !== undefined) return { entryPoints: [entry] }
  const resolveDir = resolveDirectory ?? process.cwd()
  return { stdin: { contents: script ?? '', resolveDir, loader: 'ts' } }
}

/** Starts workerd with the Worker. */
export async function startWorker(
  code: string,
  settings: WorkerSettings,
  host: WorkerHost,
): Promise<Miniflare> {
  const miniflare = new Miniflare(workerOptions(code, settings, host))
  await miniflare.ready
  return miniflare
}

function workerOptions(code: string, worker: WorkerSettings, host: WorkerHost): MiniflareOptions {
  const { socketPath, sidecarImage, image } = host
  return convertV4MiniflareOptions({
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
  })
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
  const given = worker.durableObjects ?? { SANDBOX: { className: 'Sandbox', container: true } }
  const entries = Object.entries(given).map(([binding, setting]) => {
    const { className, container } =
      typeof setting === 'string' ? { className: setting, container: false } : setting
    const object = { className, useSQLite: true } as const
    return [binding, container ? { ...object, container: { imageName } } : object] as const
  })
  return Object.fromEntries(entries)
}

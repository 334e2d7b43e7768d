import { type Clock, systemClock, WorkspaceFailedError } from '@helix-agents/core'
import type { CreateSandboxDriver, DriverSettings, ExecOptions, SandboxDriver } from '../port.ts'
import { assertTransport, lineOfSdk, type SdkLine } from '../installed-sdk.ts'
import { ScriptCode } from '../code/script-code.ts'
import { ContainerLink } from '../remote/container-link.ts'
import { createNonce as randomNonce } from '../remote/nonce.ts'
import { runCommand } from '../remote/run-command.ts'
import { ScriptFiles } from '../remote/script-files.ts'
import { ScriptProcesses } from '../remote/script-processes.ts'
import { Slots } from '../remote/slots.ts'
import { DEFAULT_SCRATCH } from '../script/settings.ts'
import { adaptStub } from '../sdk-0-13/adapt-stub.ts'
import type { NextSandboxStub } from '../sdk-0-13/stub.ts'
import { SdkCalls } from './sdk-calls.ts'
import { SdkLifecycle, type StateStub } from './sdk-lifecycle.ts'
import { SdkRunner } from './sdk-runner.ts'
import { SdkSnapshots } from './sdk-snapshots.ts'
import type { GetSandbox, SandboxNamespace, SandboxOptions, SandboxStub } from './stub.ts'

/** Where the sandbox comes from: a binding of the Worker, or whatever gives a stub. */
export type SandboxSource =
  | {
      readonly namespace: SandboxNamespace
      /** Of `@cloudflare/sandbox`; imported when first needed otherwise. */
      readonly getSandbox?: GetSandbox
      /** More for `getSandbox`, such as labels and the time limits of a start. */
      readonly sandboxOptions?: Omit<
        SandboxOptions,
        'enableDefaultSession' | 'normalizeId' | 'sleepAfter' | 'transport'
      >
    }
  | {
      readonly connect: (
        sandboxId: string,
      ) => SandboxStub | NextSandboxStub | Promise<SandboxStub | NextSandboxStub>
    }

/** How `createSdkDriver` reaches sandboxes. */
export interface SdkDriverOptions {
  readonly source: SandboxSource
  /**
   * Line of the SDK that the sandboxes are of. Default: what the installed `@cloudflare/sandbox` is;
   * with `connect`, 0.12. To be given when another package is used, such as one under an alias.
   */
  readonly line?: SdkLine
  /**
   * The bucket that is bound as `BACKUP_BUCKET`: says whose a snapshot is, and how large, before it
   * is unpacked. Without it both are taken from a ref, which passes through the model.
   */
  readonly backupBucket?: R2Bucket
  /** Directory of the container for the driver's own files, outside the workspace. */
  readonly scratch?: string
  readonly clock?: Clock
  /** Hexadecimal digits, never the same twice. */
  readonly createNonce?: () => string
  /** How a pending call notices that its container died. Default: every 5 s, dead after 10 s. */
  readonly liveness?: { readonly intervalMs: number; readonly silenceMs: number }
  /** Time a container may take to start. Default 150 s, what the SDK itself waits at most. */
  readonly startAllowanceMs?: number
}

const LIVENESS = { intervalMs: 5000, silenceMs: 10_000 }
const START_ALLOWANCE_MS = 150_000

/**
 * The driver of `@cloudflare/sandbox`, of the lines 0.12 and 0.13: the installed one decides. Makes
 * no contact: the container starts with the first call but `identity`. With a version that is not
 * known each operation fails with `config-invalid`, naming those that are.
 */
export function createSdkDriver(options: SdkDriverOptions): CreateSandboxDriver {
  const { source } = options
  const isUnbound = 'namespace' in source && !isBound(source.namespace)
  return (settings) => {
    if (isUnbound) throw notBound()
    return buildDriver(options, settings)
  }
}

/** What a Worker says of a binding that its configuration does not have. */
function isBound(namespace: SandboxNamespace | undefined): boolean {
  return namespace !== undefined
}

function notBound(): WorkspaceFailedError {
  const detail = 'cloudflare-sandbox: the binding of the sandboxes (source.namespace) is missing'
  return new WorkspaceFailedError('config-invalid', detail, {
    hint: 'An operator must add what is missing to the Worker.',
  })
}

function buildDriver(options: SdkDriverOptions, settings: DriverSettings): SandboxDriver {
  const { clock = systemClock, createNonce = randomNonce, scratch = DEFAULT_SCRATCH } = options
  const { root, env, sandboxId, backups } = settings
  const calls = new SdkCalls({
    connect: connectTo(options, settings),
    clock,
    liveness: options.liveness ?? LIVENESS,
    startAllowanceMs: options.startAllowanceMs ?? START_ALLOWANCE_MS,
  })
  const runner = new SdkRunner(calls, { root, streams: settings.transport === 'rpc' })
  const link = new ContainerLink({ runner, settings: { root, scratch }, clock, createNonce })
  const slots = new Slots(createNonce())
  const glance = glanceAt(options.source, sandboxId)
  const lifecycle = new SdkLifecycle({ calls, link, clock, glance })
  const bucket = options.backupBucket
  const shared = { calls, link, ...(bucket !== undefined && { bucket }) }
  return {
    line: '0.12',
    sandboxId,
    files: new ScriptFiles(link),
    processes: new ScriptProcesses(link, env),
    code: new ScriptCode({ link, slots, env }),
    ...(backups !== undefined && {
      snapshots: new SdkSnapshots({ ...shared, isLocal: backups.local }),
    }),
    identity: () => lifecycle.identity(),
    ensure: (request) => lifecycle.ensure(request),
    exec: (argv, request) => runCommand(link, slots, { argv, options: withEnv(env, request) }),
    mount: (request) => lifecycle.mount(request),
    destroy: () => lifecycle.destroy(),
    disconnect: async () => calls.forget(),
  }
}

function withEnv(env: Readonly<Record<string, string>>, options: ExecOptions): ExecOptions {
  return { ...options, env: { ...env, ...options.env } }
}

function connectTo(
  { source, line: given }: SdkDriverOptions,
  settings: DriverSettings,
): () => Promise<SandboxStub> {
  if ('connect' in source) {
    const line = given ?? '0.12'
    return async () => speaking(line, settings, await source.connect(settings.sandboxId))
  }
  return async () => {
    const sdk = await readSdk(source, given)
    const { sandboxOptions, namespace } = source
    const { sandboxId, sleepAfter, transport } = settings
    const stub = sdk.getSandbox(namespace, sandboxId, {
      ...sandboxOptions,
      ...(sleepAfter !== undefined && { sleepAfter }),
      ...(sdk.line === '0.12' && { transport, enableDefaultSession: false }),
    })
    return speaking(sdk.line, settings, stub)
  }
}

/** The package is loaded only to say what is not given. */
async function readSdk(
  { getSandbox }: Extract<SandboxSource, { namespace: unknown }>,
  line: SdkLine | undefined,
): Promise<{ readonly getSandbox: GetSandbox; readonly line: SdkLine }> {
  if (getSandbox !== undefined && line !== undefined) return { getSandbox, line }
  const sdk = await import('@cloudflare/sandbox')
  return { line: line ?? lineOfSdk(sdk), getSandbox: getSandbox ?? sdk.getSandbox }
}

function speaking(
  line: SdkLine,
  { transport }: DriverSettings,
  stub: SandboxStub | NextSandboxStub,
): SandboxStub {
  assertTransport(line, transport)
  return isNext(stub, line) ? adaptStub(stub) : stub
}

/** It cannot be seen: a stub answers to any name. */
function isNext(_stub: SandboxStub | NextSandboxStub, line: SdkLine): _stub is NextSandboxStub {
  return line === '0.13'
}

function glanceAt(source: SandboxSource, sandboxId: string): () => StateStub | undefined {
  if ('connect' in source) return () => undefined
  return () => source.namespace.get(source.namespace.idFromName(sandboxId))
}

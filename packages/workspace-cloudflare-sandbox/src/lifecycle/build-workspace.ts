import { noopLogger } from '@helix-agents/core'
import type {
  OpenedWorkspace,
  ResolveOptions,
  RestoreReceipt,
  WorkspaceCapabilityFlags,
} from '@helix-agents/core/provider'
import { CloudflareSandboxCodeInterpreter } from '../modules/code/cloudflare-sandbox-code-interpreter.ts'
import { CloudflareSandboxFileSystem } from '../modules/fs/cloudflare-sandbox-file-system.ts'
import { CloudflareSandboxShell } from '../modules/shell/cloudflare-sandbox-shell.ts'
import { CloudflareSandboxSnapshotter } from '../modules/snapshot/cloudflare-sandbox-snapshotter.ts'
import { CloudflareSandboxWorkspace } from './cloudflare-sandbox-workspace.ts'
import { type CloudflareSandboxConfig, WORKSPACE_ROOT } from '../config.ts'
import type { SandboxDriver } from '../driver/port.ts'
import { LiveSandbox } from './live-sandbox.ts'
import type {
  CloudflareSandboxWorkspaceProviderOptions,
  SandboxSettings,
} from '../provider-options.ts'
import { type Claimant, type SandboxRef, toRef } from '../ref.ts'
import type { SandboxDirectoryEntry } from './sandbox-directory.ts'
import { hashParts, randomHex, sandboxIdOf } from '../sandbox-id.ts'
import type { Preparation } from './prepare-sandbox.ts'
import type { ProviderMemory } from './provider-memory.ts'

const MEGABYTE = 1024 * 1024
/** Time between the end of a command's time and giving up on hearing of it. */
const END_GRACE_MS = 30_000
const LIFETIME_BYTES = 16

/** What an open or a resolve works with. */
export interface SandboxServices {
  readonly options: CloudflareSandboxWorkspaceProviderOptions
  readonly settings: SandboxSettings
  readonly memory: ProviderMemory
  readonly config: CloudflareSandboxConfig
}

/** One open or resolve. */
export interface Attachment {
  readonly services: SandboxServices
  readonly request: ResolveOptions
  readonly claimant: Claimant
  /** Hash of the session alone. */
  readonly session: string
}

/** @throws {WorkspaceFailedError} `sharing-not-declared`. */
export async function createAttachment(
  services: SandboxServices,
  request: ResolveOptions,
): Promise<Attachment> {
  const { config } = services
  const workspace = nameOf(request)
  const { sessionId } = request.session
  const sandbox = await sandboxIdOf(config, sessionId, workspace)
  const owner = await hashParts('owner', sessionId, workspace)
  const session = await hashParts('session', sessionId)
  const claimant = { owner, sandbox, isShared: config.id !== undefined }
  return { services, request, claimant, session }
}

/** The name under which a session resolves what is made. */
export function nameOf({ workspace, resolvedAs = workspace }: ResolveOptions): string {
  return resolvedAs
}

/** Whether it is made beside the workspace that the session has. */
export function isBeside(request: ResolveOptions): boolean {
  return nameOf(request) !== request.workspace
}

/** A new fence: a sandbox that comes to be, or is found without a ref. */
export function newLifetime(): string {
  return randomHex(LIFETIME_BYTES)
}

/** Without contact. */
export function createDriver({ services }: Attachment, sandboxId: string): SandboxDriver {
  const { config, options } = services
  const { sleepAfter, transport, env, backupR2Binding } = config
  return options.driver({
    sandboxId,
    root: WORKSPACE_ROOT,
    env,
    transport,
    ...(sleepAfter !== undefined && { sleepAfter }),
    ...(backupR2Binding !== undefined && { backups: { local: options.localBuckets === true } }),
  })
}

/** The entry of a sandbox in the directory. */
export function recordOf(
  { request, claimant }: Attachment,
  sandboxId: string,
): SandboxDirectoryEntry {
  const { session } = request
  const workspace = nameOf(request)
  return { sandboxId, session, workspace, isShared: claimant.isShared }
}

/** Of a shared sandbox all sessions have the same mounted files. */
export function preparationOf({ services, request, claimant }: Attachment): Preparation {
  const { config, settings, options } = services
  return {
    config,
    settings,
    owner: claimant.isShared ? claimant.sandbox : claimant.owner,
    localBuckets: options.localBuckets === true,
    signal: request.signal,
  }
}

/** The clock of the provider, or that of the caller. */
export function nowOf({ services, request }: Attachment): number {
  return (services.options.clock ?? request.clock).now()
}

/** What the ref of a workspace offers: snapshots need a bucket. */
export function capabilitiesOf({
  backupR2Binding,
}: CloudflareSandboxConfig): WorkspaceCapabilityFlags {
  const always = { fs: true, shell: true, code: true }
  return backupR2Binding === undefined ? always : { ...always, snapshot: true, branch: true }
}

/** Puts the modules over a container that is ready. */
export function buildWorkspace(
  attachment: Attachment,
  driver: SandboxDriver,
  opened: { readonly ref: SandboxRef; readonly receipt: RestoreReceipt },
): OpenedWorkspace {
  const { services, request } = attachment
  const { config, options, settings, memory } = services
  const capabilities = capabilitiesOf(config)
  const sandbox = new LiveSandbox({
    driver,
    ref: opened.ref,
    capabilities,
    clock: options.clock ?? request.clock,
    logger: options.logger ?? request.logger ?? noopLogger,
    callTimeoutMs: settings.callTimeoutMs,
  })
  const times = { defaultTimeoutMs: settings.defaultTimeoutMs, endGraceMs: END_GRACE_MS }
  const snapshot = buildSnapshotter(attachment, sandbox, capabilities)
  const maxFileMb = request.capabilities.fs?.maxFileSizeMb ?? Number.POSITIVE_INFINITY
  const ws = new CloudflareSandboxWorkspace({
    sandbox,
    fs: new CloudflareSandboxFileSystem(sandbox, {
      ...settings,
      maxFileBytes: Math.floor(maxFileMb * MEGABYTE),
    }),
    shell: new CloudflareSandboxShell(sandbox, {
      ...times,
      maxOutputBytes: settings.maxOutputBytes,
    }),
    code: new CloudflareSandboxCodeInterpreter(sandbox, {
      ...times,
      maxOutputBytes: settings.maxOutputBytes,
    }),
    ...(snapshot !== undefined && { snapshot }),
    record: recordOf(attachment, opened.ref.sandbox),
    ...(options.directory !== undefined && { directory: options.directory }),
    // What is closed before its session came to use it is used by nobody.
    destroyOnClose: config.destroyOnClose || isBeside(request),
    onDestroyed: () => memory.noteEnd(opened.ref.lifetime),
  })
  return { ws, ref: toRef(opened.ref, capabilities), receipt: opened.receipt }
}

function buildSnapshotter(
  { services, session, request }: Attachment,
  sandbox: LiveSandbox,
  capabilities: WorkspaceCapabilityFlags,
): CloudflareSandboxSnapshotter | undefined {
  const { config, options } = services
  if (config.backupR2Binding === undefined) return undefined
  const clock = options.clock ?? request.clock
  return new CloudflareSandboxSnapshotter(sandbox, {
    session,
    ttlSeconds: config.backupTtlSeconds,
    isKept: config.autoRestore,
    toForkRef: (sandboxId, snapshot) => {
      const { line } = sandbox.driver
      return toRef(
        unmade({ line, sandbox: sandboxId, seenMs: clock.now(), snapshot }),
        capabilities,
      )
    },
  })
}

/** Of a sandbox that is not made yet; it is of whoever resolves it first. */
export function unmade(
  given: Pick<SandboxRef, 'line' | 'sandbox' | 'seenMs' | 'snapshot'>,
): SandboxRef {
  return { ...given, owner: null, isShared: false, lifetime: newLifetime(), epoch: null }
}

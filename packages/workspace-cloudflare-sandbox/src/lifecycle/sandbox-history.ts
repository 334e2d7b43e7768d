import type {
  HeldBySession,
  ProviderHistory,
  SnapshotRef,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { DERIVED_ID_PREFIX, SANDBOX_KIND, WORKSPACE_ROOT } from '../config.ts'
import type { DriverSnapshots } from '../driver/port.ts'
import {
  assertLasts,
  assertTakenBy,
  parseSnapshot,
  toSnapshotRef,
} from '../modules/snapshot/cloudflare-sandbox-snapshotter.ts'
import { readRef, toRef } from '../ref.ts'
import { forkId, hashParts } from '../sandbox-id.ts'
import {
  capabilitiesOf,
  createAttachment,
  createDriver,
  nowOf,
  type SandboxServices,
  unmade,
} from './build-workspace.ts'
import { toOpenError } from './map-error.ts'

type RestoreOptions = Parameters<ProviderHistory['restore']>[1]

/** What is needed of the provider. */
export interface SandboxHistoryParts {
  readonly servicesOf: (config: unknown) => SandboxServices
}

/** The backups of sandboxes, for callers without an open workspace. A backup lasts as long as declared. */
export class SandboxHistory implements ProviderHistory {
  readonly #parts: SandboxHistoryParts

  constructor(parts: SandboxHistoryParts) {
    this.#parts = parts
  }

  /** Makes nothing yet: the first resolve of the ref does. */
  async restore(ref: SnapshotRef, options: RestoreOptions): Promise<WorkspaceRef> {
    const { session, snapshot } = parseSnapshot(ref)
    const services = this.#parts.servicesOf(options.config ?? { kind: SANDBOX_KIND })
    const attachment = await createAttachment(services, options)
    const sandbox = await forkId(attachment.claimant.sandbox, 'restored')
    const driver = createDriver(attachment, sandbox)
    if (options.allowCrossSession !== true) {
      const name = await named(driver.snapshots?.nameOf?.(snapshot.backup))
      assertTakenBy(attachment.session, { session, name })
    }
    const seenMs = nowOf(attachment)
    assertLasts(snapshot, { now: () => seenMs })
    const made = unmade({ line: driver.line, sandbox, seenMs, snapshot })
    const capabilities = capabilitiesOf(services.config)
    await options.onMaking?.(toRef({ ...made, owner: attachment.claimant.owner }, capabilities))
    return toRef(made, capabilities)
  }

  async remove(ref: SnapshotRef): Promise<void> {
    const { session, snapshot } = parseSnapshot(ref)
    const snapshots = await this.#bucketOf(session)
    await named(snapshots?.remove?.(snapshot.backup, session))
  }

  /** The platform lists no sandboxes: what was made is found by the refs of those who made it. */
  async list(sessionId: string): Promise<HeldBySession> {
    const session = await hashParts('session', sessionId)
    const snapshots = await this.#bucketOf(session)
    const kept = (await named(snapshots?.listKept?.(session))) ?? []
    return {
      snapshots: kept.map((snapshot) => toSnapshotRef(session, snapshot)),
      workspaces: [],
    }
  }

  /** What `autoRestore` brings back, or what a fork is about to be made of. */
  async neededBy(ref: WorkspaceRef, sessionId: string): Promise<SnapshotRef | undefined> {
    const { snapshot } = readRef(ref)
    if (snapshot === null) return undefined
    return toSnapshotRef(await hashParts('session', sessionId), snapshot)
  }

  /** The bucket is asked, never the sandbox. */
  async #bucketOf(session: string): Promise<DriverSnapshots | undefined> {
    const { options, config } = this.#parts.servicesOf(undefined)
    const { env, transport } = config
    const sandboxId = DERIVED_ID_PREFIX + (await hashParts('history', session))
    const backups = { local: options.localBuckets === true }
    return options.driver({ sandboxId, root: WORKSPACE_ROOT, env, transport, backups }).snapshots
  }
}

/** No error of a driver leaves the provider. */
async function named<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    throw toOpenError(error)
  }
}

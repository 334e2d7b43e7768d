import { type Logger, noopLogger, WorkspaceEvictedError } from '@helix-agents/core'
import {
  createOpenLimit,
  type OpenedWorkspace,
  type OpenLimit,
  type OpenOptions,
  type ResolveOptions,
  type SessionRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { IN_MEMORY_KIND, type InMemoryWorkspaceConfig, parseInMemoryConfig } from './config.ts'
import { InMemoryFileSystem } from './in-memory-file-system.ts'
import { createRef, readRef, REF_SCHEMA_VERSION } from './ref.ts'
import { InMemoryWorkspace } from './workspace.ts'

/** How an {@link InMemoryWorkspaceProvider} is set up. */
export interface InMemoryProviderOptions {
  /** Default: drops every line. */
  readonly logger?: Logger
  /** Ids are only counted, `inmem-1`, without the random part. For tests. Default false. */
  readonly deterministicIds?: boolean
  /** Most that one workspace may hold, in megabytes of 1,048,576 bytes. Default 512. */
  readonly maxTotalMb?: number
  /** Bound of concurrent opens over all sessions; the others wait in turn. Default: none. */
  readonly maxGlobalConcurrentOpens?: number
}

/** A workspace that is still in memory. */
interface Entry {
  readonly fs: InMemoryFileSystem
  readonly maxTotalMb: number
}

const MEGABYTE = 1024 * 1024
const DEFAULT_MAX_TOTAL_MB = 512

/**
 * Workspaces in the memory of this process, for tests and short-lived agents. Nothing is
 * persisted: a detached workspace can be resolved again by the same provider object only.
 */
export class InMemoryWorkspaceProvider implements WorkspaceProvider<InMemoryWorkspaceConfig> {
  readonly providerId = IN_MEMORY_KIND
  readonly capabilities = { fs: true } as const
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly #entries = new Map<string, Entry>()
  readonly #logger: Logger
  readonly #deterministicIds: boolean
  readonly #maxTotalMb: number
  readonly #openLimit: OpenLimit
  #opened = 0

  constructor(options: InMemoryProviderOptions = {}) {
    this.#logger = options.logger ?? noopLogger
    this.#deterministicIds = options.deterministicIds ?? false
    this.#maxTotalMb = options.maxTotalMb ?? DEFAULT_MAX_TOTAL_MB
    this.#openLimit = createOpenLimit(options.maxGlobalConcurrentOpens)
  }

  /** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
  parseConfig(config: unknown): InMemoryWorkspaceConfig {
    return parseInMemoryConfig(config)
  }

  /** Makes an empty workspace; no I/O. */
  open(
    config: InMemoryWorkspaceConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    return this.#openLimit(async () => {
      const { maxTotalMb = this.#maxTotalMb } = parseInMemoryConfig(config)
      const id = this.#nextId()
      const fs = new InMemoryFileSystem({ versionPrefix: `${id}.` })
      const entry = { fs, maxTotalMb: Math.min(maxTotalMb, this.#maxTotalMb) }
      this.#entries.set(id, entry)
      this.#logger.debug({ id, sessionId: session.sessionId }, 'in-memory workspace opened')
      return this.#attach(id, entry, { options, outcome: 'created' })
    }, options.signal)
  }

  /**
   * Attaches to a workspace of this provider object that was not closed.
   * @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`.
   * @throws {WorkspaceEvictedError} `lost` for every other one.
   */
  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    options.signal.throwIfAborted()
    const id = readRef(ref)
    const entry = this.#entries.get(id)
    if (entry !== undefined) return this.#attach(id, entry, { options, outcome: 'reattached' })
    throw new WorkspaceEvictedError(
      'the in-memory workspace is gone: its process ended or it was closed',
      {
        code: 'lost',
        admitted: 'no',
      },
    )
  }

  #attach(
    id: string,
    entry: Entry,
    attach: { readonly options: OpenOptions; readonly outcome: 'created' | 'reattached' },
  ): OpenedWorkspace {
    const maxFileMb = attach.options.capabilities.fs?.maxFileSizeMb
    entry.fs.limit({
      maxTotalBytes: Math.floor(entry.maxTotalMb * MEGABYTE),
      ...(maxFileMb !== undefined && { maxFileBytes: Math.floor(maxFileMb * MEGABYTE) }),
    })
    const ws = new InMemoryWorkspace(id, entry.fs, () => this.#close(id))
    return { ws, ref: createRef(id), receipt: { outcome: attach.outcome } }
  }

  #close(id: string): void {
    this.#entries.get(id)?.fs.discard()
    if (this.#entries.delete(id)) this.#logger.debug({ id }, 'in-memory workspace closed')
  }

  #nextId(): string {
    this.#opened += 1
    const counted = `inmem-${this.#opened}`
    return this.#deterministicIds ? counted : `${counted}-${randomHex(6)}`
  }
}

function randomHex(byteCount: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(byteCount))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

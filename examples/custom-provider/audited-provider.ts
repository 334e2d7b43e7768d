import { WorkspaceFailedError } from '@helix-agents/core'
import {
  type FileSystem,
  type OpenedWorkspace,
  type OpenOptions,
  parseProviderRef,
  parseWorkspaceRef,
  type ResolveOptions,
  type SessionRef,
  type WorkspaceProvider,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'

/** One change that an agent made. */
export interface Change {
  readonly sessionId: string
  readonly method: string
  readonly path: string
}

const configSchema = z.strictObject({ kind: z.literal('audited') })
type AuditedConfig = Readonly<z.output<typeof configSchema>>

/** The ref of the workspace inside, as JSON. */
const payloadSchema = z.strictObject({ inner: z.string().max(4096) })
const REF_SCHEMA_VERSION = 1

const changing: ReadonlySet<PropertyKey> = new Set<keyof FileSystem>([
  'writeFile',
  'appendFile',
  'writeStream',
  'mkdir',
  'rm',
  'copy',
  'move',
])

/** Workspaces of another provider, with a record of every change to their files. */
export class AuditedWorkspaceProvider implements WorkspaceProvider<AuditedConfig> {
  readonly providerId = 'audited'
  readonly capabilities = { fs: true } as const
  readonly refSchemaVersion = REF_SCHEMA_VERSION
  readonly #inner: WorkspaceProvider
  readonly #record: (change: Change) => void

  constructor(inner: WorkspaceProvider, record: (change: Change) => void) {
    this.#inner = inner
    this.#record = record
  }

  parseConfig(config: unknown): AuditedConfig {
    const parsed = configSchema.safeParse(config)
    if (parsed.success) return parsed.data
    throw new WorkspaceFailedError('config-invalid', `audited: ${z.prettifyError(parsed.error)}`)
  }

  async open(
    config: AuditedConfig,
    session: SessionRef,
    options: OpenOptions,
  ): Promise<OpenedWorkspace> {
    this.parseConfig(config)
    const inner = await this.#inner.open({ kind: this.#inner.providerId }, session, options)
    return this.#audit(inner, session.sessionId)
  }

  async resolve(ref: WorkspaceRef, options: ResolveOptions): Promise<OpenedWorkspace> {
    const { inner } = parseProviderRef({
      ref,
      providerId: this.providerId,
      schemaVersion: REF_SCHEMA_VERSION,
      schema: payloadSchema,
    })
    const resolved = await this.#inner.resolve(parseInner(inner), options)
    return this.#audit(resolved, options.session.sessionId)
  }

  #audit({ ws, ref, receipt }: OpenedWorkspace, sessionId: string): OpenedWorkspace {
    const record = (method: string, path: string): void => this.#record({ sessionId, method, path })
    return {
      ws: {
        id: ws.id,
        isolation: ws.isolation,
        ...(ws.fs && { fs: recorded(ws.fs, record) }),
        detach: async () => ws.detach?.(),
        close: async () => ws.close(),
      },
      ref: {
        providerId: this.providerId,
        schemaVersion: REF_SCHEMA_VERSION,
        capabilities: this.capabilities,
        ref: { inner: JSON.stringify(ref) },
      },
      receipt,
    }
  }
}

/** A stored ref may hold anything: it is parsed like every other input. */
function parseInner(text: string): WorkspaceRef {
  try {
    return parseWorkspaceRef(JSON.parse(text))
  } catch (cause) {
    throw new WorkspaceFailedError('ref-invalid', 'the ref inside is not valid', { cause })
  }
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** The same files; what changed them is recorded once it is done. */
function recorded(fs: FileSystem, record: (method: string, path: string) => void): FileSystem {
  return new Proxy(fs, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as Method
      if (!changing.has(property)) return method
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const result = await method(...args)
        record(String(property), String(args[0]))
        return result
      }
    },
  })
}

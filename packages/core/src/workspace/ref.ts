import type { ModuleName } from '../modules/registry.ts'

/** Which modules a provider or a workspace offers; `branch` is an extra of `snapshot`. */
export type WorkspaceCapabilityFlags = {
  readonly [N in ModuleName | 'branch']?: boolean
}

/** A serialisable pointer to a workspace; plain JSON. */
export interface WorkspaceRef {
  readonly providerId: string
  /** Version of the shape of `ref`; each provider reads N-1, N and N+1 of its own. */
  readonly schemaVersion: number
  readonly capabilities: WorkspaceCapabilityFlags
  /** The provider's own data. */
  readonly ref: unknown
}

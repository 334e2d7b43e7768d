/**
 * Which modules a provider or a workspace offers; `branch` is an extra of `snapshot`. Written
 * out, not derived from the modules: their tools name this type.
 */
export interface WorkspaceCapabilityFlags {
  readonly fs?: boolean
  readonly shell?: boolean
  readonly code?: boolean
  readonly snapshot?: boolean
  readonly branch?: boolean
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

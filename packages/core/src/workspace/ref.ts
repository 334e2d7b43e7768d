/** A provider and its own options; providers parse the options themselves. */
export interface ProviderSelection {
  /** Names the registered provider. */
  readonly kind: string
  readonly [option: string]: unknown
}

/**
 * The modules that a provider or a workspace offers, by name. A ref may have been written by a
 * release with other modules, so the names are not closed here: parsing checks them.
 */
export type OfferedCapabilities = Readonly<Record<string, boolean | undefined>>

/** A serialisable pointer to a workspace; plain JSON. */
export interface WorkspaceRef {
  /** Kind of the provider that wrote it. */
  readonly providerId: string
  /** Version of the shape of `ref`; each provider reads N-1, N and N+1 of its own. */
  readonly schemaVersion: number
  /** The modules of the workspace, and optional parts of them. */
  readonly capabilities: OfferedCapabilities
  /** The provider's own data. */
  readonly ref: unknown
  /** Set when the workspace was moved to another provider than the declared one. */
  readonly moved?: MovedWorkspace
}

/** Where a workspace was moved to. */
export interface MovedWorkspace {
  /** Takes the place of what the agent declares under `provider`. */
  readonly provider: ProviderSelection
  /** What the model reads at the next open, once. */
  readonly notice?: string
}

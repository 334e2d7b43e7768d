/** A JSON value, as a binding of a Worker can hold. */
export type BindingValue =
  | string
  | number
  | boolean
  | null
  | BindingValue[]
  | { [key: string]: BindingValue }

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
  /** Packages that are bundled in place of others, by name: the absolute path of a module. */
  readonly alias?: Readonly<Record<string, string>>
  /** Default `testbed`. Part of the identity of Durable Objects. */
  readonly name?: string
  /** Default `{ SANDBOX: { className: 'Sandbox', container: true } }`. */
  readonly durableObjects?: Readonly<Record<string, string | DurableObjectSetting>>
  /** Default `['BACKUP_BUCKET']`. */
  readonly r2Buckets?: readonly string[]
  /** Variables of the Worker; `SANDBOX_TRANSPORT` is `rpc` unless given. */
  readonly bindings?: Readonly<Record<string, BindingValue>>
  /** Default `2026-10-01`. */
  readonly compatibilityDate?: string
  /** Default `['nodejs_compat']`. */
  readonly compatibilityFlags?: readonly string[]
}

export { type LocalBashConfig, localBashConfigSchema, type LocalBashIsolation } from './config.ts'
export {
  LocalBashInventory,
  type LocalBashInventoryOptions,
  type LocalBashInspection,
  type LocalBashResources,
} from './operate/inventory.ts'
export { LocalBashWorkspace } from './local-bash-workspace.ts'
export { LocalBashWorkspaceProvider } from './local-bash-workspace-provider.ts'
export type { LocalBashWorkspaceProviderOptions } from './provider-options.ts'
export { reapLocalBashTmpdirs, type ReapOptions, type ReapReport } from './operate/reap.ts'
export type { LocalBashSnapshotOptions } from './snapshots/local-snapshots.ts'
export {
  DirectorySnapshotStore,
  type DirectorySnapshotStoreOptions,
} from './snapshots/store/directory-snapshot-store.ts'
export { SubprocessShell } from './subprocess-shell.ts'
export { TmpdirFileSystem, type TmpdirFileSystemOptions } from './tmpdir-file-system.ts'

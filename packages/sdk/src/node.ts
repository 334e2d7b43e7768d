// The umbrella: names of other packages, and nothing of its own. Made by `pnpm sdk:gen`.
export {
  openSqliteStores,
  SqliteDatabase,
  type SqliteDatabaseOptions,
  type SqliteStores,
  type SqliteStoresOptions,
} from '@helix-agents/store-sqlite'

export {
  DirectorySnapshotStore,
  type DirectorySnapshotStoreOptions,
  type LocalBashConfig,
  localBashConfigSchema,
  type LocalBashInspection,
  LocalBashInventory,
  type LocalBashInventoryOptions,
  type LocalBashIsolation,
  type LocalBashResources,
  type LocalBashSnapshotOptions,
  LocalBashWorkspace,
  LocalBashWorkspaceProvider,
  type LocalBashWorkspaceProviderOptions,
  reapLocalBashTmpdirs,
  type ReapOptions,
  type ReapReport,
  SubprocessShell,
  TmpdirFileSystem,
  type TmpdirFileSystemOptions,
} from '@helix-agents/workspace-local-bash'

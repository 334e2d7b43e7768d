// The umbrella: names of other packages, and nothing of its own. Made by `pnpm sdk:gen`.
export {
  openSqliteStores,
  SqliteDatabase,
  type SqliteDatabaseOptions,
  type SqliteStores,
  type SqliteStoresOptions,
} from '@helix-agents/store-sqlite'

export {
  type LocalBashConfig,
  localBashConfigSchema,
  type LocalBashIsolation,
  type LocalBashSnapshotOptions,
  LocalBashWorkspaceProvider,
  type LocalBashWorkspaceProviderOptions,
  reapLocalBashTmpdirs,
  type ReapOptions,
  type ReapReport,
} from '@helix-agents/workspace-local-bash'

export {
  type LocalBashInspection,
  LocalBashInventory,
  type LocalBashInventoryOptions,
  type LocalBashResources,
} from '@helix-agents/workspace-local-bash/operate'

export {
  DirectorySnapshotStore,
  type DirectorySnapshotStoreOptions,
  LocalBashWorkspace,
  SubprocessShell,
  TmpdirFileSystem,
  type TmpdirFileSystemOptions,
} from '@helix-agents/workspace-local-bash/parts'

export { LocalBashWorkspace } from './local-bash-workspace.ts'
export {
  DirectorySnapshotStore,
  type DirectorySnapshotStoreOptions,
} from './snapshots/store/directory-snapshot-store.ts'
export { SubprocessShell } from './subprocess-shell.ts'
export { TmpdirFileSystem, type TmpdirFileSystemOptions } from './tmpdir-file-system.ts'

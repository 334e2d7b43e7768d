// What the author of a workspace provider implements, and the parts that providers share.

// Provider and workspace
export type {
  CapabilityFlag,
  ToolNotes,
  WorkspaceCapabilityFlags,
  WorkspaceModules,
} from './modules/list.ts'
export { createOpenLimit, type OpenLimit } from './registry/open-limit.ts'
export {
  parseProviderRef,
  parseWorkspaceRef,
  type ProviderRefFormat,
} from './workspace/parse-ref.ts'
export type {
  HeldBySession,
  OpenedWorkspace,
  OpenOptions,
  ProviderHistory,
  ResolveOptions,
  RestoreReceipt,
  SessionRef,
  WorkspaceProvider,
} from './workspace/provider.ts'
export type { MovedWorkspace, OfferedCapabilities, WorkspaceRef } from './workspace/ref.ts'
export type { Containment, Isolation, Workspace } from './workspace/workspace.ts'

// Module: fs
export {
  type FileSystemConfig,
  type FileSystemConfigInput,
  fileSystemConfigSchema,
} from './modules/fs/config.ts'
export type {
  FileAttributes,
  FileEntry,
  FileEvent,
  FileMode,
  FileStat,
  FileSystem,
  FileType,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  GrepResult,
  PathAhead,
  ReadAheadOptions,
  ReadStreamOptions,
  TransferOptions,
  WriteOptions,
} from './modules/fs/contract.ts'

// Module: fs, paths
export {
  baseName,
  checkSubtreeFits,
  compareCodePoints,
  fitsPathLimits,
  INTERNAL_DIRECTORY,
  isWithin,
  joinPath,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
  MAX_PATH_DEPTH,
  normalizePath,
  parentPath,
  pathDepth,
  type SubtreeExtent,
} from './modules/fs/path/path.ts'
export { sortByCodePoint } from './modules/fs/path/sort-paths.ts'
export { checkTransferFits } from './modules/fs/path/subtree.ts'

// Module: fs, search
export { compileGlob, type GlobMatcher } from './modules/fs/search/glob.ts'
export { GrepCollector } from './modules/fs/search/grep-collector.ts'
export { createSearchPace, type SearchPace } from './modules/fs/search/search-pace.ts'
export { compileSearch, type TextSearch } from './modules/fs/search/search.ts'

// Module: shell
export {
  type ShellConfig,
  type ShellConfigInput,
  shellConfigSchema,
} from './modules/shell/config.ts'
export type {
  BackgroundProcess,
  OutputCut,
  ProcessOutput,
  RunResult,
  Shell,
  ShellCommand,
  ShellRunOptions,
} from './modules/shell/contract.ts'
export type {
  CommandBatch,
  CommandFiles,
  EngineShell,
  RejectedChange,
  ShellEngine,
  ShellEngineHost,
} from './modules/shell/engine.ts'
export { HeadTail, type KeptOutput } from './modules/shell/output/head-tail.ts'
export { quoteWord } from './modules/shell/words.ts'

// Module: code
export { type CodeConfig, type CodeConfigInput, codeConfigSchema } from './modules/code/config.ts'
export type {
  CodeContextId,
  CodeInterpreter,
  CodeOutput,
  RunCodeOptions,
  RunCodeResult,
} from './modules/code/contract.ts'
export type { CodeEngine, CodeEngineHost, EngineCode } from './modules/code/engine.ts'

// Module: snapshot
export {
  type SnapshotConfig,
  type SnapshotConfigInput,
  snapshotConfigSchema,
} from './modules/snapshot/config.ts'
export type { SnapshotOptions, SnapshotRef, Snapshotter } from './modules/snapshot/contract.ts'

// Snapshots in a store
export { isInnerTarget } from './snapshot-store/check-tree.ts'
export { compareEntries, type SnapshotDifference } from './snapshot-store/compare-entries.ts'
export { digestEntries, sha256 } from './snapshot-store/digest.ts'
export { assertFileSizes } from './snapshot-store/file-sizes.ts'
export {
  blocksOf,
  checkBlock,
  checkSnapshotBlocks,
  isBlockHash,
  pageLimit,
  pageOf,
  parseScope,
  snapshotKey,
} from './snapshot-store/driver-checks.ts'
export type { SnapshotLoss, SnapshotLossKind } from './snapshot-store/loss.ts'
export {
  SNAPSHOT_BLOCK_BYTES,
  SNAPSHOT_FORMAT_VERSION,
  type SnapshotDirectory,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotHeader,
  type SnapshotLimits,
  type SnapshotLink,
  type SnapshotManifest,
  snapshotLimits,
} from './snapshot-store/manifest.ts'
export {
  checkManifest,
  encodeManifest,
  encodeManifestParts,
  parseHeader,
  parseManifest,
} from './snapshot-store/parse-manifest.ts'
export {
  type ConfigurableProvider,
  portableSnapshots,
  type PortableSnapshotsOptions,
} from './snapshot-store/portable/portable-snapshots.ts'
export {
  type RestoredSnapshot,
  restoreSnapshot,
  type RestoreSnapshotOptions,
} from './snapshot-store/restore-snapshot.ts'
export {
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_GRACE_MS,
  type SnapshotBlock,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  type SweepOptions,
  type SweepResult,
} from './snapshot-store/snapshot-store.ts'
export {
  BlockWriter,
  type BlockWriterOptions,
  type WrittenFile,
} from './snapshot-store/take/block-writer.ts'
export {
  type TakenSnapshot,
  takeSnapshot,
  type TakeSnapshotOptions,
} from './snapshot-store/take/take-snapshot.ts'
export {
  allManifests,
  type DamagedSnapshot,
  type VerifiedSnapshots,
  verifySnapshots,
} from './snapshot-store/verify-snapshots.ts'

// Bytes and texts
export { decodeBase64, encodeBase64 } from './modules/code/base64.ts'
export { decodeText, isBinary, toBytes, utf8Length } from './modules/fs/text/bytes.ts'

// Time
export { untilAborted } from './time/abort.ts'
export { backoffMs } from './time/backoff.ts'
export type { TimerOptions } from './time/clock.ts'
export { type Deadline, withDeadline } from './time/deadline.ts'
export { createTimeSlice, type TimeSlice } from './time/slice.ts'

// Logs
export { logMessages } from './logging/log-messages.ts'

// Options of errors
export type { FileSystemErrorOptions } from './errors/file-system-error.ts'
export type { HelixErrorOptions } from './errors/helix-error.ts'
export type { ToolInputErrorOptions } from './errors/tool-input-error.ts'
export type { WorkspaceEvictedOptions } from './errors/workspace-evicted-error.ts'
export type { WorkspaceFailedOptions } from './errors/workspace-failed-error.ts'

export type { CollectionReport } from './objects/collector.ts'
export type { CloudflareFileStoreConfig } from './config.ts'
export { FileStoreFileSystem } from './file-store-file-system.ts'
export { CloudflareFileStoreWorkspaceProvider } from './provider.ts'
export type { CloudflareFileStoreProviderOptions } from './provider-options.ts'
export type {
  FileStoreBucket,
  FileStoreSql,
  FileStoreStorage,
  ObjectBody,
  ObjectRange,
  FileStoreSqlBinding,
  FileStoreSqlRow,
  FileStoreSqlValue,
} from './ports.ts'

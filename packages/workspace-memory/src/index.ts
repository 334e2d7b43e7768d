export type { InMemoryWorkspaceConfig } from './config.ts'
export { InMemoryFileSystem, type InMemoryFileSystemOptions } from './in-memory-file-system.ts'
export { type InMemoryProviderOptions, InMemoryWorkspaceProvider } from './provider.ts'
export { InMemoryWorkspace, type InMemoryWorkspaceParts } from './workspace.ts'

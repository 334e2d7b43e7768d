export { exportGit, type ExportedCommit } from './export-git.ts'
export type { GitDifference, GitDifferenceKind } from './held-by-git.ts'
export { type GitCommit, type ImportedCommit, importGit } from './import-git.ts'

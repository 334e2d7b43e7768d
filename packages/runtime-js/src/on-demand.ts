// What an executor that only runs agents does not load: one part, behind `door.ts`.
export { runSubAgent } from './call/sub-agent.ts'
export { branchSession } from './executor/branch-session.ts'
export { deleteSession } from './executor/delete-session.ts'
export { enqueueTurn, withTurn } from './executor/enqueue-turn.ts'
export { recoverSession } from './executor/recover-session.ts'
export { respond } from './executor/respond.ts'
export { restoreSession } from './executor/restore-session.ts'
export { collect, releaseEverything } from './history/collect.ts'
export { diffSession } from './history/diff.ts'
export { importSession } from './history/import/import-session.ts'
export { moveWorkspace } from './history/move-workspace.ts'
export { readFiles } from './history/read-files.ts'
export { releaseWorkspaces } from './history/release-workspaces.ts'
export { loadRunHistory } from './history/run-history.ts'
export {
  assertBranchOptions,
  assertDiffOptions,
  assertImportOptions,
  assertMoveOptions,
  assertReadFiles,
  assertRestoreOptions,
} from './session/check-options.ts'

export { ConformanceError } from './assert.ts'
export type { Behaviour, Deviation } from './behaviour.ts'
export { codeBehaviours } from './code/code-behaviours.ts'
export { type ConformanceSubject, defineConformance } from './define-conformance.ts'
export type { Decoys } from './provider/decoys.ts'
export { fileSystemBehaviours } from './file-system/index.ts'
export {
  defineWorkspaceConformance,
  type ProviderExtra,
  workspaceBehaviours,
  type WorkspaceConformanceSubject,
} from './provider/define-workspace-conformance.ts'
export {
  type KitOpenOptions,
  type ProviderHarness,
  ProviderSubject,
} from './provider/provider-subject.ts'
export type { Runner } from './runner.ts'
export { shellBehaviours } from './shell/index.ts'

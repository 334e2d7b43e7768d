import type {
  OpenedWorkspace,
  SnapshotRef,
  Snapshotter,
  Workspace,
  WorkspaceProvider,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { type ProviderHarness, ProviderSubject } from '@helix-agents/workspace-conformance'
import { CAPABILITIES } from '../reference/provider.ts'

export type ProviderSaboteur = (good: ProviderSubject) => ProviderSubject

/** Puts another provider into the harness. */
export const provider =
  (
    change: (good: WorkspaceProvider, harness: ProviderHarness) => Partial<WorkspaceProvider>,
  ): ProviderSaboteur =>
  (good) =>
    subjectOf({
      ...good.harness,
      provider: { ...good.provider, ...change(good.provider, good.harness) },
    })

export const harness =
  (change: (good: ProviderHarness) => Partial<ProviderHarness>): ProviderSaboteur =>
  (good) =>
    subjectOf({ ...good.harness, ...change(good.harness) })

/** Changes what open and resolve bring back. */
export const opened = (
  change: (value: OpenedWorkspace, sessionId: string) => OpenedWorkspace,
): ProviderSaboteur =>
  provider((good) => ({
    open: async (config, session, options) =>
      change(await good.open(config, session, options), session.sessionId),
    resolve: async (ref, options) =>
      change(await good.resolve(ref, options), options.session.sessionId),
  }))

/** Changes the live workspace. */
export const workspace = (change: (ws: Workspace) => Partial<Workspace>): ProviderSaboteur =>
  opened((value) => ({ ...value, ws: { ...value.ws, ...change(value.ws) } }))

/** Changes the snapshots of each workspace. */
export const snapshotter = (
  change: (good: Snapshotter, ws: Workspace) => Partial<Snapshotter>,
): ProviderSaboteur =>
  workspace((ws) => ({ snapshot: { ...ws.snapshot!, ...change(ws.snapshot!, ws) } }))

/** Resolves what it should refuse, by making it acceptable first. */
export const lenient = (repair: (ref: WorkspaceRef) => WorkspaceRef): ProviderSaboteur =>
  provider((good) => ({
    resolve: async (ref, options) => good.resolve(repair(ref), options),
  }))

/** Changes forks, of both kinds. */
export const forks = (
  change: (
    fork: Snapshotter['restore'],
    ws: Workspace,
  ) => (ref: SnapshotRef, options?: { allowCrossSession?: boolean }) => Promise<WorkspaceRef>,
): ProviderSaboteur =>
  snapshotter((good, ws) => {
    const broken = change((ref, options) => good.restore(ref, options), ws)
    return { restore: broken, branch: broken }
  })

function subjectOf(broken: ProviderHarness): ProviderSubject {
  return new ProviderSubject(broken, CAPABILITIES, ['background'])
}

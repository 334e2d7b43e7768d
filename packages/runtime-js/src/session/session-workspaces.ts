import type { Message, WorkspaceAccess } from '@helix-agents/core'
import {
  type CloseReport,
  type FileVersionsSnapshot,
  type RegistryDeps,
  type SessionState,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import type { Lease } from '../lease/lease.ts'
import type { RunHistory, RunServices, RunWorkspaces } from '../ports.ts'
import { SharedWorkspaces } from './shared-workspaces.ts'
import type { ToolSet } from '../call/tool-sets.ts'
import { usageBefore } from './usage-before.ts'

/** What the workspaces need to know of their session. */
export type WorkspaceOwner = Pick<
  SessionState,
  'sessionId' | 'agentType' | 'workspaceRefs' | 'fileLedgers' | 'stepCount'
>

export interface SessionWorkspacesOptions {
  readonly services: RunServices
  readonly session: WorkspaceOwner
  /** Without tools for workspaces that are only closed. */
  readonly toolSet: Pick<ToolSet, 'own'> & Partial<Pick<ToolSet, 'tools'>>
  /** The conversation before the run. Default: none. */
  readonly messages?: readonly Message[]
  /** Stores a ref; null removes it. */
  readonly saveRef: RegistryDeps['persistRef']
  /** Absent when the agent declares none. */
  readonly history?: Pick<RunHistory, 'changedBefore' | 'restoreLost'>
  /** The workspaces of the parent, for a sub-agent that shares them. */
  readonly parent?: WorkspaceAccess
}

/** Stores refs with the session that is held. */
export function saveRefsOf(
  { stateStore }: RunServices,
  lease: Lease,
): SessionWorkspacesOptions['saveRef'] {
  return (workspace, ref, releasesOld = false) =>
    stateStore.saveWorkspaceRef({
      ...lease.write(),
      workspace,
      ref,
      ...(releasesOld && { releasesOld }),
    })
}

/** The workspaces of one run. */
export class SessionWorkspaces implements RunWorkspaces {
  readonly registry: WorkspaceRegistry | undefined
  readonly access: WorkspaceAccess

  constructor(options: SessionWorkspacesOptions) {
    const own = createRegistry(options)
    this.registry = Object.keys(options.toolSet.own).length === 0 ? undefined : own
    this.access = options.parent === undefined ? own : new SharedWorkspaces(options.parent, own)
  }

  consumeLedgerChanges(): Readonly<Record<string, FileVersionsSnapshot>> | undefined {
    return this.registry?.takeLedgerChanges()
  }

  async close(mode: 'end' | 'detach'): Promise<CloseReport> {
    return (await this.registry?.close({ mode })) ?? { owed: [] }
  }
}

function createRegistry(options: SessionWorkspacesOptions): WorkspaceRegistry {
  const { services, session, toolSet, saveRef } = options
  return new WorkspaceRegistry(toolSet.own, {
    ...services.registryTuning,
    providers: services.providers,
    session: { sessionId: session.sessionId, agentType: session.agentType },
    refs: session.workspaceRefs,
    ledgers: session.fileLedgers,
    usedBefore: usageBefore(options),
    persistRef: saveRef,
    ...(options.history !== undefined && {
      changedBefore: options.history.changedBefore,
      restoreLost: options.history.restoreLost,
    }),
    logger: services.logger,
    metrics: services.metrics,
    ...(services.lifecycle !== undefined && { lifecycle: services.lifecycle }),
    ...(services.tracer !== undefined && { tracer: services.tracer }),
    clock: services.clock,
  })
}

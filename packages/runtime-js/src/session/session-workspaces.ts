import type { Message, WorkspaceAccess } from '@helix-agents/core'
import {
  type CloseReport,
  type FileVersionsSnapshot,
  type RegistryDeps,
  type SessionState,
  workspaceOrderKey,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import type { Lease } from '../lease/lease.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { RunHistory, RunServices, RunWorkspaces } from '../ports.ts'
import { SharedWorkspaces } from './shared-workspaces.ts'
import type { ToolSet } from '../call/tool-sets.ts'

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
  /** Whether files differ from their newest snapshot. Default: unknown. */
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

/** An earlier run has used a workspace when it knew of its files, or a tool of it had a result. */
function usageBefore(options: SessionWorkspacesOptions): NonNullable<RegistryDeps['usedBefore']> {
  const { session, toolSet, messages = [] } = options
  // The conversation grows: what this run adds to it is not from before.
  const before = [...messages]
  const inherited = countInherited(before, session.stepCount)
  return (name) => {
    if (Object.hasOwn(session.fileLedgers, name)) return true
    const isOwn = (toolName: string): boolean =>
      toolSet.tools?.byName.get(toolName)?.orderKey === workspaceOrderKey(name)
    const isUse = (message: Message): boolean =>
      message.role === 'tool' && !message.isError && isOwn(message.toolName)
    const last = before.findLastIndex(isUse)
    if (last === -1) return false
    return last < inherited ? 'in-source' : true
  }
}

/**
 * Messages that a branch has of its source: an answer of the model is a step, and the session has
 * taken fewer of them itself than there are. 0 for a session that is no branch.
 */
function countInherited(messages: readonly Message[], ownSteps: number): number {
  const answers = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []))
  // The step that was cut off is not counted yet.
  const open = findOpenCalls(messages).length > 0 ? 1 : 0
  const foreign = answers.length - ownSteps - open
  if (foreign <= 0) return 0
  return answers[foreign] ?? messages.length
}

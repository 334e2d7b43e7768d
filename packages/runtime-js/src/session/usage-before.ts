import type { Message } from '@helix-agents/core'
import { type RegistryDeps, type SessionState, workspaceOrderKey } from '@helix-agents/core/runtime'
import { findOpenCalls } from '../call/find-open-calls.ts'
import type { ToolSet } from '../call/tool-sets.ts'

/** What is known of a session and its conversation before a run. */
export interface EarlierUse {
  readonly session: Pick<SessionState, 'fileLedgers' | 'stepCount'>
  readonly toolSet: Partial<Pick<ToolSet, 'tools'>>
  /** Default: none. */
  readonly messages?: readonly Message[]
}

/** An earlier run has used a workspace when it knew of its files, or a tool of it had a result. */
export function usageBefore({
  session,
  toolSet,
  messages = [],
}: EarlierUse): NonNullable<RegistryDeps['usedBefore']> {
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
 * taken fewer of them itself than there are. In a session that is no branch it is what comes before the
 * first answer.
 */
function countInherited(messages: readonly Message[], ownSteps: number): number {
  const answers = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []))
  // The step that was cut off is not counted yet.
  const open = findOpenCalls(messages).length > 0 ? 1 : 0
  const foreign = Math.max(0, answers.length - ownSteps - open)
  return answers[foreign] ?? messages.length
}

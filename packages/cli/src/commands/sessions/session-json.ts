import type { Message } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { Checkpoint, JournalEntry, SessionState } from '@helix-agents/core/runtime'
import { owedWorkspaces } from './session-facts.ts'
import type { SessionReport } from './read-session.ts'

/** The head of a session without the bulk of it, and without the data of providers. */
export function toHeadJson(session: SessionState, { hasRefs = false } = {}) {
  const { customState: _, fileLedgers: __, workspaceRefs, ...head } = session
  return {
    ...head,
    workspaces: toWorkspacesJson(workspaceRefs, hasRefs),
    owedWorkspaces: owedWorkspaces(session),
  }
}

export function toReportJson(report: SessionReport, options: { readonly hasRefs: boolean }) {
  const { session, runs, journal, messages, checkpoints } = report
  return {
    session: toHeadJson(session, options),
    runs,
    journal: journal.map(toJournalJson),
    messages: messages.map(toMessageJson),
    ...(checkpoints !== undefined && {
      checkpoints: checkpoints.map((one) => toCheckpointJson(one, options)),
    }),
  }
}

/** What a provider keeps in a ref may be a secret. */
function toWorkspacesJson(refs: Readonly<Record<string, WorkspaceRef>>, hasRefs: boolean) {
  const entries = Object.entries(refs).map(([name, { ref, ...visible }]) => {
    return [name, hasRefs ? { ...visible, ref } : visible] as const
  })
  return Object.fromEntries(entries)
}

function toJournalJson({ result, ...entry }: JournalEntry) {
  if (result === undefined) return { ...entry, outcome: 'unknown' }
  return { ...entry, outcome: result.message.isError === true ? 'error' : 'done', ...result }
}

function toCheckpointJson(checkpoint: Checkpoint, { hasRefs }: { readonly hasRefs: boolean }) {
  const { customState: _, workspaceRefs, ...visible } = checkpoint
  return { ...visible, workspaces: toWorkspacesJson(workspaceRefs, hasRefs) }
}

/** Bytes as their number: a picture is of no use in JSON. */
function toMessageJson(message: Message): unknown {
  return JSON.parse(
    JSON.stringify(message, (_, value: unknown) =>
      value instanceof Uint8Array ? { bytes: value.byteLength } : value,
    ),
  )
}

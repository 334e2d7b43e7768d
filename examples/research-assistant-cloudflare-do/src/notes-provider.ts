import { systemClock } from '@helix-agents/core'
import type { FileSystem, WorkspaceRef } from '@helix-agents/core/provider'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { researchAssistant } from './agent.ts'
import { logger } from './logger.ts'

/** Files in the tables of the object; what is larger than 4 MiB goes to the bucket. */
export function createNotesProvider(
  env: Cloudflare.Env,
  ctx: DurableObjectState,
): CloudflareFileStoreWorkspaceProvider {
  return new CloudflareFileStoreWorkspaceProvider({
    storage: ctx.storage,
    r2: env.FILES,
    // Far above what a research needs, far below what an object can hold.
    maxBytes: 256 * 1024 * 1024,
    maxFiles: 5000,
    shell: justBashShell(),
  })
}

export interface NotesOfSession {
  readonly provider: CloudflareFileStoreWorkspaceProvider
  readonly sessionId: string
  /** Absent: the session has not used its notes yet. */
  readonly ref?: WorkspaceRef
}

/**
 * The files that the agent works on, for code beside a run. A session and a workspace name lead to
 * the same files, whoever opens them first.
 */
export async function openNotes({ provider, sessionId, ref }: NotesOfSession): Promise<FileSystem> {
  const session = { sessionId, agentType: researchAssistant.name }
  const options = {
    workspace: 'notes',
    capabilities: researchAssistant.workspaces.notes?.capabilities ?? {},
    signal: AbortSignal.timeout(30_000),
    logger,
    clock: systemClock,
  }
  const { ws } =
    ref === undefined
      ? await provider.open({ kind: 'cloudflare-filestore' }, session, options)
      : await provider.resolve(ref, { ...options, session })
  if (ws.fs === undefined) throw new Error('the workspace has no files')
  return ws.fs
}

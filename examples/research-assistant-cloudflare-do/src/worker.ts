import { createAgentServer, routeAgentRequest } from '@helix-agents/runtime-cloudflare'
import { researchAssistant } from './agent.ts'
import { authenticate } from './authenticate.ts'
import { createModel } from './model.ts'
import { getNotes } from './notes-endpoint.ts'
import { moveOldNotes } from './move-old-notes.ts'
import { createNotesProvider, openNotes } from './notes-provider.ts'
import { logger } from './logger.ts'

interface Bindings {
  readonly RESEARCH: DurableObjectNamespace
  readonly FILES: R2Bucket
  /** `wrangler secret put RESEARCH_TOKEN`; without it every request is rejected. */
  readonly RESEARCH_TOKEN?: string
}

declare global {
  namespace Cloudflare {
    interface Env extends Bindings {}
  }
}

/** One research, with its conversation, its stream and its notes. */
export class ResearchAssistant extends createAgentServer({
  llmAdapter: createModel,
  agents: [researchAssistant],
  workspaceProviders: (env, ctx) => [createNotesProvider(env, ctx)],
  endpoints: { '/notes': getNotes },
  logger,
  // After a crash the research resumes within this time.
  heartbeatMs: 5000,
}) {
  /** Notes of the release before become files. To be removed when no object has them any more. */
  override async onStart(): Promise<void> {
    const provider = createNotesProvider(this.env, this.ctx)
    const count = await moveOldNotes(this.ctx.storage, () =>
      openNotes({ provider, sessionId: this.name }),
    )
    if (count > 0) logger.info({ count, sessionId: this.name }, 'old notes are files now')
  }
}

const notFound = { error: { code: 'not-found', message: 'there is no such route' } }

export default {
  async fetch(request, env) {
    const binding = { [researchAssistant.name]: 'RESEARCH' }
    const options = { binding, authenticate, logger }
    return (
      (await routeAgentRequest(request, env, options)) ?? Response.json(notFound, { status: 404 })
    )
  },
} satisfies ExportedHandler<Cloudflare.Env>

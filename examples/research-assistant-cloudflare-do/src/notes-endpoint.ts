import { type EndpointContext, RequestError } from '@helix-agents/runtime-cloudflare'
import { createNotesProvider, openNotes } from './notes-provider.ts'

/**
 * The notes for people: their paths, or one of them with `?path=`. A run need not be under way,
 * and while one is, what it has written is there.
 */
export async function getNotes(
  request: Request,
  { env, ctx, sessionId, stateStore }: EndpointContext<Cloudflare.Env>,
): Promise<Response> {
  if (request.method !== 'GET') {
    const headers = { allow: 'GET' }
    throw new RequestError(405, 'method-not-allowed', 'allowed: GET', { headers })
  }
  const ref = (await stateStore.loadSession(sessionId))?.workspaceRefs.notes
  if (ref === undefined) throw new RequestError(404, 'not-found', 'there are no notes yet')
  const fs = await openNotes({ provider: createNotesProvider(env, ctx), sessionId, ref })
  const notes = await fs.glob('**/*.md')
  const path = new URL(request.url).searchParams.get('path')
  if (path === null) return Response.json({ notes })
  if (!notes.includes(path)) throw new RequestError(404, 'not-found', 'there is no such note')
  return new Response((await fs.readFile(path)).slice(), {
    headers: { 'content-type': 'text/markdown; charset=utf-8' },
  })
}

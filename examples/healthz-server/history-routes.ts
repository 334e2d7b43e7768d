import type { Checkpoint } from '@helix-agents/core/runtime'
import { exportTar } from '@helix-agents/snapshot-archive'
import type { Hono } from 'hono'
import type { RouteParts } from './app.ts'
import { RequestError } from './http-error.ts'
import {
  branchSchema,
  check,
  checkpointsSchema,
  diffSchema,
  filesSchema,
  readBody,
  restoreSchema,
} from './request-body.ts'
import { findSession } from './session-routes.ts'
import { linksOf } from './session-view.ts'

/** The checkpoints of a session: what changed since, and the way back. */
export function addHistoryRoutes(app: Hono, parts: RouteParts): void {
  const { agent, executor, stateStore, bodies } = parts
  const assertCheckpoint = async (sessionId: string, id: string): Promise<void> => {
    if ((await stateStore.getCheckpoint(sessionId, id)) !== null) return
    throw new RequestError(404, 'not-found', 'there is no such checkpoint')
  }

  app.get('/sessions/:id/checkpoints', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const query = check(checkpointsSchema, context.req.query())
    const page = await stateStore.listCheckpoints(sessionId, query)
    return context.json({ ...page, items: page.items.map(toCheckpointView) })
  })

  app.get('/sessions/:id/diff', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const query = check(diffSchema, context.req.query())
    for (const point of [query.from, query.to]) {
      if (point !== 'now') await assertCheckpoint(sessionId, point)
    }
    return context.json({ workspaces: await executor.diff(agent, sessionId, query) })
  })

  app.get('/sessions/:id/files', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const query = check(filesSchema, context.req.query())
    await assertCheckpoint(sessionId, query.checkpointId)
    return sendFiles(parts, sessionId, query)
  })

  app.post('/sessions/:id/restore', async (context) => {
    const body = await readBody(bodies, context.req.raw, restoreSchema)
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const { checkpointId, ...options } = body
    await assertCheckpoint(sessionId, checkpointId)
    await executor.restoreCheckpoint(agent, sessionId, checkpointId, options)
    const links = linksOf(sessionId)
    return context.json({ sessionId, links }, 202, { location: links.self })
  })

  app.post('/sessions/:id/branch', async (context) => {
    const body = await readBody(bodies, context.req.raw, branchSchema)
    const { sessionId: fromSessionId } = await findSession(parts, context.req.param('id'))
    if (body.checkpointId !== undefined) await assertCheckpoint(fromSessionId, body.checkpointId)
    const { sessionId } = await executor.branch(agent, { ...body, fromSessionId })
    const links = linksOf(sessionId)
    return context.json({ sessionId, links }, 201, { location: links.self })
  })
}

/** A tar archive in constant memory: what a slow client has not read is not made. */
async function sendFiles(
  { agent, executor, logger }: RouteParts,
  sessionId: string,
  query: { readonly checkpointId: string; readonly workspace?: string },
): Promise<Response> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const started = Promise.withResolvers<void>()
  const sending = executor.readFiles(agent, sessionId, query, async ({ manifest, ...source }) => {
    const tar = await exportTar(source, manifest)
    started.resolve()
    await tar.pipeTo(writable)
  })
  sending.catch((err: unknown) => {
    started.reject(err)
    logger.warn({ err, sessionId }, 'files of a checkpoint were not sent whole')
  })
  await started.promise
  const disposition = 'attachment; filename="files.tar"'
  return new Response(readable, {
    headers: { 'content-type': 'application/x-tar', 'content-disposition': disposition },
  })
}

/** Without the state and the refs that it keeps. */
function toCheckpointView(checkpoint: Checkpoint): object {
  const { id, stepCount, messageCount, status, createdAt } = checkpoint
  return { id, stepCount, messageCount, status, createdAt }
}

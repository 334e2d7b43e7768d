import { exportTar } from '@helix-agents/snapshot-archive'
import { known, type SessionAccess } from '../server/session-access.ts'
import { notFound } from './http-error.ts'
import { check, diffSchema, filesSchema } from './request-body.ts'
import type { SessionRequest } from './session-request.ts'

/** What differs between the files of two checkpoints, or of a checkpoint and now. */
export async function getDiff<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const query = check(diffSchema, Object.fromEntries(url.searchParams))
  for (const point of [query.from, query.to]) {
    if (point !== 'now') await assertCheckpoint(access, point)
  }
  const { host, agent } = access
  return Response.json({ workspaces: await host.executor.diff(agent, sessionId, query) })
}

/** The files of a checkpoint as a tar archive, in constant memory. */
export async function getFiles<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const query = check(filesSchema, Object.fromEntries(url.searchParams))
  await assertCheckpoint(access, query.checkpointId)
  const { host, agent, caller } = access
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const started = Promise.withResolvers<string>()
  const leave = host.places.streams.take(caller)
  const sending = host.executor
    .readFiles(agent, sessionId, query, async ({ manifest, store, scope }) => {
      const tar = await exportTar({ store, scope }, manifest)
      started.resolve(manifest.header.digest)
      await tar.pipeTo(writable)
    })
    .finally(leave)
  sending.catch((err: unknown) => {
    started.reject(err)
    host.logger.warn({ err, sessionId }, 'files of a checkpoint were not sent whole')
  })
  const digest = await started.promise
  host.ctx.waitUntil(Promise.allSettled([sending]))
  return new Response(readable, {
    headers: {
      'content-type': 'application/x-tar',
      'content-disposition': 'attachment; filename="files.tar"',
      'x-content-type-options': 'nosniff',
      etag: `"${digest}"`,
    },
  })
}

async function assertCheckpoint<Env>(
  { host }: SessionAccess<Env>,
  checkpointId: string,
): Promise<void> {
  const found = await host.stateStore.getCheckpoint(host.sessionId, checkpointId)
  if (found === null) throw notFound('checkpoint')
}

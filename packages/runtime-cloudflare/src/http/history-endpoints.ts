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
  const started = Promise.withResolvers<{ digest: string; body: ReadableStream<Uint8Array> }>()
  const leave = host.places.streams.take(caller)
  const sending = host.executor
    .readFiles(agent, sessionId, query, async ({ manifest, store, scope }) => {
      const tar = await exportTar({ store, scope }, manifest)
      const { body, sent } = watched(tar)
      started.resolve({ digest: manifest.header.digest, body })
      await sent
    })
    .finally(leave)
  sending.catch((err: unknown) => {
    started.reject(err)
    host.logger.warn({ err, sessionId }, 'files of a checkpoint were not sent whole')
  })
  const { digest, body } = await started.promise
  host.ctx.waitUntil(Promise.allSettled([sending]))
  return new Response(body, {
    headers: {
      'content-type': 'application/x-tar',
      'content-disposition': 'attachment; filename="files.tar"',
      'x-content-type-options': 'nosniff',
      etag: `"${digest}"`,
    },
  })
}

/** The same stream, and when its reader has all of it. A pipe would keep something of every piece. */
function watched(source: ReadableStream<Uint8Array>) {
  const reader = source.getReader()
  const { promise: sent, resolve, reject } = Promise.withResolvers<void>()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      resolve()
    } catch (error) {
      reject(error)
      throw error
    }
  }
  const cancel = async (reason: unknown): Promise<void> => {
    reject(reason)
    await reader.cancel(reason)
  }
  return { sent, body: new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 }) }
}

async function assertCheckpoint<Env>(
  { host }: SessionAccess<Env>,
  checkpointId: string,
): Promise<void> {
  const found = await host.stateStore.getCheckpoint(host.sessionId, checkpointId)
  if (found === null) throw notFound('checkpoint')
}

import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import type { Message } from '@helix-agents/core'
import { expect, vi } from 'vitest'
import { type Script, scripts } from './scripts.ts'

export interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it expects
  readonly body: any
  readonly headers: Headers
}

export interface TestSession {
  readonly id: string
  /** The object; what was aborted needs a new stub, hence a getter. */
  readonly stub: DurableObjectStub
  readonly url: (path: string) => string
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, body?: unknown) => Promise<Answer>
  /** Waits until the run has ended; its status. */
  readonly ended: () => Promise<string>
  readonly messages: () => Promise<readonly Message[]>
}

export interface SessionRoute {
  readonly agent?: string
  readonly namespace?: DurableObjectNamespace
}

/** Longer than any run of these tests: a session that never ends fails its test, and ends it. */
const MAX_RUN_MS = 110_000

/** A session with an id of its own, over HTTP and through the Worker. */
export function createSession(
  script: Partial<Script> = {},
  { agent = 'tested', namespace = env.AGENTS }: SessionRoute = {},
): TestSession {
  const id = crypto.randomUUID()
  if (script.brain !== undefined) scripts.set(id, { brain: script.brain, ...script })
  else if (Object.keys(script).length > 0) throw new Error('a script has a brain')
  const url = (path: string): string => `https://example.com/agents/${agent}/${id}${path}`
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    exports.default.fetch(url(path), withJsonType(init))
  const get = (path: string): Promise<Answer> => answerOf(send(path))
  return {
    id,
    get stub() {
      return namespace.getByName(id)
    },
    url,
    fetch: send,
    get,
    post: (path, body) =>
      answerOf(
        send(path, {
          method: 'POST',
          ...(body !== undefined && {
            body: typeof body === 'string' ? body : JSON.stringify(body),
          }),
        }),
      ),
    ended: async () => {
      const giveUpAt = Date.now() + MAX_RUN_MS
      for (;;) {
        const { body } = await get('/state')
        if (body.status !== 'running') return body.status as string
        if (Date.now() > giveUpAt) throw new Error(`session ${id} is still running`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
    messages: async () => (await get('/messages?limit=200')).body.messages as Message[],
  }
}

/** A body is JSON unless its headers say otherwise. */
export function withJsonType(init: RequestInit): RequestInit {
  if (init.body === undefined) return init
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return { ...init, headers }
}

export async function answerOf(response: Response | Promise<Response>): Promise<Answer> {
  const { status, headers } = await response
  const text = await (await response).text()
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) }
}

export function inObject<T>(
  { stub }: TestSession,
  work: (state: DurableObjectState) => T | Promise<T>,
): Promise<T> {
  return runInDurableObject(stub, (_: DurableObject, state) => work(state))
}

/**
 * Ends the instances of all objects at once, in the middle of whatever they do, as a deploy or a
 * crash does: their memory is lost, their storage stays.
 */
export async function crash(): Promise<void> {
  await abortAllDurableObjects()
}

/** Waits until an object has nothing left to do: no run is noted, and no alarm is set. */
export async function untilAtRest(session: TestSession): Promise<void> {
  await vi.waitFor(
    async () => {
      const left = await inObject(session, async ({ storage }) => [
        ...storage.kv.list({ prefix: 'helix:run:' }),
        await storage.getAlarm(),
      ])
      expect(left).toEqual([null])
    },
    { timeout: 30_000, interval: 5 },
  )
}

/** What an object stores, of whatever part. */
export function storedIn(session: TestSession) {
  return inObject(session, async ({ storage }) => ({
    tables: storage.sql
      .exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'")
      .toArray()
      .map(({ name }) => name),
    keys: [...storage.kv.list()].map(([key]) => key),
    alarm: await storage.getAlarm(),
  }))
}

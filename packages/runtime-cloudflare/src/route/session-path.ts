import { notFound, RequestError } from '../http/http-error.ts'

/** The parts of the path of a request. */
export interface SessionPath {
  readonly agent: string
  readonly sessionId: string
  /** Path of the session. */
  readonly base: string
  /** What follows it. */
  readonly rest: string
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/** @param parts what follows the prefix. @throws {RequestError} 404, 400 */
export function toSessionPath(parts: readonly string[], prefix: string): SessionPath {
  const [agent, sessionId, ...rest] = parts
  if (agent === undefined || sessionId === undefined) throw notFound('route')
  if (!NAME.test(agent)) throw notFound('agent')
  assertSessionId(sessionId)
  return { agent, sessionId, base: `/${prefix}/${agent}/${sessionId}`, rest: `/${rest.join('/')}` }
}

/** The path of another session of the same agent. @throws {RequestError} 400 */
export function siblingOf({ agent, base }: SessionPath, sessionId: string): SessionPath {
  assertSessionId(sessionId)
  const prefix = base.slice(0, base.lastIndexOf('/'))
  return { agent, sessionId, base: `${prefix}/${sessionId}`, rest: '/start' }
}

function assertSessionId(sessionId: string): void {
  if (NAME.test(sessionId)) return
  const message = 'a session id is 1 to 64 letters, digits, "-" or "_"'
  throw new RequestError(400, 'invalid-session-id', message)
}

import type { Caller } from './caller.ts'
import type { RequestedAction } from './session-action.ts'

/** What a request is for. */
export interface RequestedSession<Env> extends RequestedAction {
  readonly agent: string
  readonly sessionId: string
  readonly env: Env
  /** Aborts when the answer is too late: for what the hook calls, such as `fetch`. */
  readonly signal: AbortSignal
}

/**
 * Says who sends a request: a `Caller` lets it in, `null` or `undefined` is a 401, and a
 * `Response` is sent as it is. It sees the request before anything of the session is touched, and
 * must leave its body unread. For a branch it is asked twice: with the session that is branched,
 * and with the `start` of the new one. A hook that does not answer in `authenticateTimeoutMs` lets no caller in.
 * What it throws is a 500, or the `RequestError` it is. Browsers send cookies with a WebSocket from
 * any page: who relies on cookies checks `Origin`.
 */
export type Authenticate<Env> = (
  request: Request,
  target: RequestedSession<Env>,
) => Caller | Response | null | undefined | Promise<Caller | Response | null | undefined>

/**
 * Lets everybody in, without a name: whoever knows the id of a session reads and steers it. For a
 * Worker that only you can reach.
 */
export function insecureAllowAnyone(): Caller {
  return {}
}

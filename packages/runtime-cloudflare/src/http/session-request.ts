import type { AccessRequest, SessionAccess } from '../server/session-access.ts'
import type { BodyLimits } from './request-body.ts'

/** A request for the session of the object. */
export interface SessionRequest<Env> {
  readonly request: Request
  readonly url: URL
  /** Path of the session, as clients see it. */
  readonly base: string
  readonly asked: AccessRequest
  /** As it was before the body came. */
  readonly access: SessionAccess<Env>
  readonly bodyLimits: BodyLimits
}

import { CallerPlaces } from '../http/caller-places.ts'
import type { AgentServerOptions } from './agent-server-options.ts'

const DEFAULT_MAX_READERS = 100
const DEFAULT_MAX_BODIES = 32

/** What requests may hold of the memory of an object. */
export interface HostPlaces {
  readonly streams: CallerPlaces
  /** Bodies that are not read to their end. */
  readonly bodies: CallerPlaces
  /** Commands of WebSockets that are not answered. */
  readonly commands: CallerPlaces
}

export function createPlaces<Env>(options: AgentServerOptions<Env>): HostPlaces {
  const { maxStreamReaders = DEFAULT_MAX_READERS, maxUnreadBodies = DEFAULT_MAX_BODIES } = options
  const bodies = { max: maxUnreadBodies, code: 'too-many-requests' }
  return {
    streams: new CallerPlaces({
      max: maxStreamReaders,
      code: 'too-many-readers',
      what: 'readers of its stream',
    }),
    bodies: new CallerPlaces({ ...bodies, what: 'requests whose bodies are not complete' }),
    commands: new CallerPlaces({ ...bodies, what: 'commands that are not answered' }),
  }
}

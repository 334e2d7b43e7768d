import { type Caller, decodeCaller, encodeCaller } from './caller.ts'

/** The session; also what `partyserver` calls it. */
export const ROOM_HEADER = 'x-partykit-room'
const AGENT_HEADER = 'x-helix-agent'
const CALLER_HEADER = 'x-helix-caller'
const BASE_HEADER = 'x-helix-base'
/** Set on the request that brings a new session what a branch begins with. */
const SEED_HEADER = 'x-helix-seed'
/** `partyserver` reads it; no client may set it. */
const PROPS_HEADER = 'x-partykit-props'

/** What the Worker tells the object of a request. */
export interface Target {
  readonly sessionId: string
  readonly agent: string
  /** Path of the session, as clients see it. */
  readonly base: string
  readonly caller: Caller
  /** The body is what a branch begins with. Default false. */
  readonly isSeed?: boolean
}

/**
 * The request as the object gets it: its path begins after that of the session, and who sends it
 * is what the Worker found, whatever the client claims.
 */
export function toObjectRequest(request: Request, path: string, target: Target): Request {
  const url = new URL(request.url)
  url.pathname = path
  const headers = new Headers(request.headers)
  headers.delete(PROPS_HEADER)
  headers.delete(SEED_HEADER)
  if (target.isSeed === true) headers.set(SEED_HEADER, '1')
  headers.set(ROOM_HEADER, target.sessionId)
  headers.set(AGENT_HEADER, target.agent)
  headers.set(CALLER_HEADER, encodeCaller(target.caller))
  headers.set(BASE_HEADER, target.base)
  return new Request(url, new Request(request, { headers }))
}

/** What the object reads of that. */
export interface ReceivedTarget {
  readonly base: string
  readonly isSeed: boolean
  /** Who asks, and for which agent: none when the object is called past `routeAgentRequest`. */
  readonly asked: { readonly caller: Caller; readonly agent?: string }
}

export function readTarget({ headers }: Request): ReceivedTarget {
  const agent = headers.get(AGENT_HEADER)
  const caller = decodeCaller(headers.get(CALLER_HEADER))
  return {
    base: headers.get(BASE_HEADER) ?? '',
    isSeed: headers.has(SEED_HEADER),
    asked: { caller, ...(agent !== null && { agent }) },
  }
}

/** Without what would let a client choose the properties or the connection of the object. */
export function withoutClientControl(request: Request): Request {
  const url = new URL(request.url)
  const isUpgrade = isWebSocketUpgrade(request)
  if (!isUpgrade && !request.headers.has(PROPS_HEADER)) return request
  const headers = new Headers(request.headers)
  headers.delete(PROPS_HEADER)
  // The address of a WebSocket is kept with it: no tokens, and not longer than it takes.
  if (isUpgrade) url.search = keepOnly(url, 'fromSequence')
  return new Request(url, new Request(request, { headers }))
}

export function isWebSocketUpgrade({ headers }: Request): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket'
}

function keepOnly({ searchParams }: URL, name: string): string {
  const value = searchParams.get(name)
  return value === null ? '' : `?${new URLSearchParams({ [name]: value.slice(0, 20) })}`
}

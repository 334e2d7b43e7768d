/** What a request asks of a session; `other` for a path of the application. */
export type SessionAction =
  | 'start'
  | 'message'
  | 'resume'
  | 'interrupt'
  | 'abort'
  | 'restore'
  | 'branch'
  | 'delete'
  | 'state'
  | 'messages'
  | 'checkpoints'
  | 'diff'
  | 'files'
  | 'requests'
  | 'request'
  | 'respond'
  | 'stream'
  | 'healthz'
  | 'socket'
  | 'other'

export type BuiltInAction = Exclude<SessionAction, 'other'>

/** Where a WebSocket is connected. */
export const SOCKET_PATH = '/socket'

/** The built-in routes of a session: by path, then by method. */
const routes: ReadonlyMap<string, Readonly<Record<string, BuiltInAction>>> = new Map<
  string,
  Readonly<Record<string, BuiltInAction>>
>([
  ['/', { GET: 'state', DELETE: 'delete' }],
  ['/start', { POST: 'start' }],
  ['/message', { POST: 'message' }],
  ['/messages', { GET: 'messages', POST: 'message' }],
  ['/resume', { POST: 'resume' }],
  ['/interrupt', { POST: 'interrupt' }],
  ['/abort', { POST: 'abort' }],
  ['/restore', { POST: 'restore' }],
  ['/branch', { POST: 'branch' }],
  ['/checkpoints', { GET: 'checkpoints' }],
  ['/diff', { GET: 'diff' }],
  ['/files', { GET: 'files' }],
  ['/requests', { GET: 'requests' }],
  ['/requests/:id', { GET: 'request', POST: 'respond' }],
  ['/state', { GET: 'state' }],
  ['/stream', { GET: 'stream' }],
  ['/healthz', { GET: 'healthz' }],
  [SOCKET_PATH, { GET: 'socket' }],
])

const reads: ReadonlySet<SessionAction> = new Set<SessionAction>([
  'state',
  'messages',
  'checkpoints',
  'diff',
  'files',
  'requests',
  'request',
  'stream',
  'healthz',
])

const REQUEST_PATH = /^\/requests\/([^/]+)$/

/** The actions of a path by method; `undefined` for a path of the application. */
export function methodsOf(path: string): Readonly<Record<string, BuiltInAction>> | undefined {
  return routes.get(REQUEST_PATH.test(path) ? '/requests/:id' : path)
}

/** The id in the path of a request to people. */
export function requestIdOf(path: string): string {
  return REQUEST_PATH.exec(path)?.[1] ?? ''
}

/** What a request is for, and whether it may change something. */
export interface RequestedAction {
  readonly action: SessionAction
  /**
   * Also true for `socket`, since a WebSocket steers the session too; of `other` it is true for
   * every method but GET and HEAD.
   */
  readonly isWrite: boolean
}

/** @param path what follows that of the session */
export function actionOf(method: string, path: string): RequestedAction {
  const methods = methodsOf(path) ?? {}
  const action = Object.hasOwn(methods, method) ? (methods[method] ?? 'other') : 'other'
  const isWrite = action === 'other' ? !/^(?:GET|HEAD)$/.test(method) : !reads.has(action)
  return { action, isWrite }
}

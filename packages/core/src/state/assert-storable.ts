import { StateStoreError } from '../errors/state-store-error.ts'
import {
  contentProblem,
  describeContentProblem,
  contentLimits,
  isStorableId,
} from '../llm/content-limits.ts'
import { isMessage, sizeProblem } from '../llm/message-shape.ts'
import type { RequestResolution } from './session-requests.ts'

/** What a write of a session may carry; a store passes the write as it is. */
export interface StorableWrite {
  readonly sessionId: string
  readonly messages?: readonly unknown[]
  readonly tags?: readonly unknown[]
  readonly journal?: readonly object[]
  readonly result?: object
  readonly checkpointId?: string
  readonly requestId?: string
  readonly requests?: readonly object[]
  readonly resolution?: object
  readonly messageId?: string
  /** A queued message: one of the user. */
  readonly message?: unknown
  /** In an object of its own; that of a new session is put into one. */
  readonly customState?: { readonly value: unknown }
}

/** Ids that a write may carry. */
const IDS = [
  'sessionId',
  'runId',
  'agentType',
  'parentSessionId',
  'toolCallId',
  'toolName',
  'workspace',
  'userId',
  'requestId',
  'askingSessionId',
  'subject',
  'by',
  'messageId',
] as const
/** JSON values that a write may carry. */
const VALUES = [
  'customState',
  'metadata',
  'output',
  'error',
  'outcome',
  'arguments',
  'preview',
  'resolution',
  'finish',
  'ref',
  'workspaceSnapshots',
] as const
/** Values that stand in an object of their own. */
const WRAPPED: ReadonlySet<string> = new Set(['customState', 'outcome', 'finish'])
/** A checkpoint is named after its session, and maybe after its run. */
const CHECKPOINT_CHARACTERS = 1200
const MAX_TAGS = 1000
const DECISIONS: readonly unknown[] = [
  'approve',
  'deny',
  'output',
  'expired',
  'cancelled',
] satisfies readonly RequestResolution['decision'][]

/**
 * For stores: checks the content of a write, before anything of it is stored. What passes can be read
 * again by every store. Its cost is bounded for any value.
 * @throws {StateStoreError} `not-storable` for an id, a message or a value that is over
 * `contentLimits` or has the wrong shape.
 */
export function assertStorable(write: StorableWrite): void {
  const problem = problemOf(write)
  if (problem === undefined) return
  const { sessionId } = write
  throw new StateStoreError('not-storable', isStorableId(sessionId) ? sessionId : '', problem)
}

/** For streams: checks the ids of a run. @throws {StateStoreError} `not-storable` */
export function assertStorableIds(...ids: readonly string[]): void {
  if (ids.every(isStorableId)) return
  throw new StateStoreError('not-storable', '', idProblem('an id'))
}

function problemOf(write: StorableWrite): string | undefined {
  return (
    fieldsProblem(write) ??
    listProblem(write.messages, messageProblem) ??
    namesProblem(write.tags, 'a tag') ??
    listProblem(write.journal, entryProblem) ??
    listProblem(write.requests, requestProblem) ??
    givenProblem(write.result, entryProblem) ??
    givenProblem(write.resolution, resolutionProblem) ??
    givenProblem(write.message, queuedProblem)
  )
}

function fieldsProblem(write: object): string | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fields are read by name, as unknown
  const fields = write as Readonly<Record<string, unknown>>
  for (const name of IDS) {
    const id = fields[name]
    if (id !== undefined && !isStorableId(id)) return idProblem(name)
  }
  const checkpointId = fields['checkpointId']
  if (checkpointId !== undefined && !isCheckpointId(checkpointId)) return idProblem('checkpointId')
  for (const name of VALUES) {
    const value = fields[name]
    if (value === undefined) continue
    const problem = contentProblem(value, WRAPPED.has(name) ? -1 : 0)
    if (problem !== undefined) return `${name} is ${describeContentProblem(problem)}`
  }
  return undefined
}

function isCheckpointId(id: unknown): boolean {
  return (
    typeof id === 'string' && id.length <= contentLimits.maxIdCharacters + CHECKPOINT_CHARACTERS
  )
}

function entryProblem(entry: object): string | undefined {
  const message: unknown = Reflect.get(entry, 'message')
  const result: unknown = Reflect.get(entry, 'result')
  return (
    fieldsProblem(entry) ??
    (message === undefined ? undefined : messageProblem(message)) ??
    (typeof result === 'object' && result !== null ? entryProblem(result) : undefined)
  )
}

function messageProblem(message: unknown): string | undefined {
  if (!isMessage(message)) return 'what is to be stored is no message'
  const problem = sizeProblem(message)
  if (problem === undefined) return undefined
  if (problem === 'id') return idProblem('an id in a message')
  return `a message is ${describeContentProblem(problem)}`
}

function givenProblem<T>(
  value: T | undefined,
  check: (value: T) => string | undefined,
): string | undefined {
  return value === undefined ? undefined : check(value)
}

function requestProblem(request: object): string | undefined {
  const path: unknown = Reflect.get(request, 'agentPath')
  return fieldsProblem(request) ?? namesProblem(path, 'the name of an agent')
}

function resolutionProblem(resolution: object): string | undefined {
  const isKnown = DECISIONS.includes(Reflect.get(resolution, 'decision'))
  return isKnown ? fieldsProblem(resolution) : 'what is to be stored is no decision'
}

function queuedProblem(message: unknown): string | undefined {
  const problem = messageProblem(message)
  if (problem !== undefined) return problem
  const isOfUser = isMessage(message) && message.role === 'user'
  return isOfUser ? undefined : 'only messages of the user are queued'
}

function namesProblem(names: unknown, what: string): string | undefined {
  if (names === undefined) return undefined
  const isFine = Array.isArray(names) && names.length <= MAX_TAGS && names.every(isStorableId)
  return isFine ? undefined : idProblem(what)
}

function listProblem<T>(
  items: readonly T[] | undefined,
  check: (item: T) => string | undefined,
): string | undefined {
  for (const item of items ?? []) {
    const problem = check(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function idProblem(name: string): string {
  return `${name} must be a text of at most ${contentLimits.maxIdCharacters} characters`
}

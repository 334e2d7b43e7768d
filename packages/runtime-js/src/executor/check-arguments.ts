import {
  type Agent,
  AgentAlreadyRunningError,
  type LLMAdapter,
  SessionError,
} from '@helix-agents/core'
import { hasMethod, type SessionStateStore, type StreamManager } from '@helix-agents/core/runtime'

const DEFAULT_LEASE_MS = 60_000
const MAX_LEASE_MS = 2_147_483_647

/** What an executor is made of. */
export interface ExecutorParts {
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly llmAdapter: LLMAdapter
}

/** Parts in the wrong order, or none, are found before a run is. @throws {TypeError} */
export function assertParts({ stateStore, streamManager, llmAdapter }: ExecutorParts): void {
  assertHas(stateStore, 'loadSession', 'first', 'a state store such as new InMemoryStateStore()')
  assertHas(stateStore, 'addRequests', 'first', 'a state store that keeps requests of people')
  assertHas(streamManager, 'read', 'second', 'a stream manager such as new InMemoryStreamManager()')
  const adapter =
    'a model adapter such as new VercelAIAdapter(); models stand in llmConfig of agents'
  assertHas(llmAdapter, 'generateStep', 'third', adapter)
}

/** @throws {TypeError} for what `defineAgent` has not made. */
export function assertAgent(agent: Agent): void {
  const value: unknown = agent
  const isAgent =
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'tools' in value &&
    Array.isArray(value.tools) &&
    'workspaces' in value
  if (!isAgent) throw new TypeError('the first argument must be an agent that defineAgent has made')
}

function assertHas(part: unknown, method: string, position: string, wanted: string): void {
  if (hasMethod(part, method)) return
  throw new TypeError(`JSAgentExecutor: the ${position} argument must be ${wanted}`)
}

/** A run holds the session, or a call of it waits for a person. */
export function isBusy(error: unknown): boolean {
  if (AgentAlreadyRunningError.isInstance(error)) return true
  return SessionError.isInstance(error) && error.code === 'waiting'
}

/** @throws {RangeError} */
export function parseLeaseMs(leaseMs = DEFAULT_LEASE_MS): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs >= 1 && leaseMs <= MAX_LEASE_MS) return leaseMs
  throw new RangeError(`leaseMs must be a whole number from 1 to ${MAX_LEASE_MS}, not ${leaseMs}`)
}

/** An empty one is a variable that was not set: all its sessions would be one. */
export function parseSessionId(sessionId: string = crypto.randomUUID()): string {
  if (sessionId !== '') return sessionId
  throw new RangeError('sessionId must not be empty; leave it out to get a random one')
}

/** @throws {TypeError} */
export function assertText(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string')
    throw new TypeError(`${name} must be a string, not ${shownArgument(value)}`)
}

/** A value in the text of an error. */
export function shownArgument(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

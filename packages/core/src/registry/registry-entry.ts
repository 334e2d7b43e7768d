import type { WorkspaceDeclaration } from '../agent/agent-definition.ts'
import { FileSystemError, type FileSystemErrorCode } from '../errors/file-system-error.ts'
import type { HelixError } from '../errors/helix-error.ts'
import { PolicyError } from '../errors/policy-error.ts'
import { ToolInputError } from '../errors/tool-input-error.ts'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { FileLedger } from '../modules/fs/ledger/file-ledger.ts'
import type { WorkspaceLabels } from '../workspace/metrics.ts'
import { parseWorkspaceRef } from '../workspace/parse-ref.ts'
import type { RestoreReceipt, WorkspaceProvider } from '../workspace/provider.ts'
import type { WorkspaceCapabilityFlags } from '../modules/list.ts'
import type { WorkspaceRef } from '../workspace/ref.ts'
import type { Containment, Isolation, Workspace } from '../workspace/workspace.ts'
import { nextState, type WorkspaceEvent, type WorkspaceState } from './entry-state.ts'
import type { RegistryContext } from './registry-context.ts'
import type { RegistryDeps } from './registry-deps.ts'
import type { OpenWorkspace } from './workspace-access.ts'

/** One workspace of a session: all that the registry knows of it. */
export interface RegistryEntry {
  readonly name: string
  readonly declaration: WorkspaceDeclaration
  readonly capabilities: WorkspaceCapabilityFlags
  readonly labels: WorkspaceLabels
  readonly provider: WorkspaceProvider | undefined
  state: WorkspaceState
  /** When the state was reached. */
  stateSince: number
  /** What operations use; set exactly while the state is `open`. Each open makes a new one. */
  current?: OpenWorkspace
  /** The handle to close or detach at the end; set also while closing. */
  held?: Workspace
  /** The one open or resolve in flight. */
  opening?: Promise<OpenWorkspace>
  /** A switch in flight; never rejects. */
  switching?: Promise<void>
  /** The ref that is persisted. */
  ref?: WorkspaceRef
  /** The last `changedRef` that is persisted, the very object. */
  changedRef?: WorkspaceRef
  /** The stored ref cannot be read; nothing may overwrite it. */
  refProblem?: WorkspaceFailedError
  failure?: { readonly error: HelixError; readonly at: number }
  /** The open whose exhausted retry is logged already. */
  exhaustionLoggedFor?: number
  ledger: FileLedger
  /** The ledger replaces a stored one, so it must be stored even while it is empty. */
  isLedgerNew: boolean
  notice?: string
  /** Counts the opens that succeeded. */
  generation: number
  evictions: number
  retries: number
  lastError?: HelixError
  lastAttemptAt?: number
  lastSuccessAt?: number
  /** The first attempt that no success has followed. */
  unsuccessfulSince: number | undefined
  lastOpAt?: number
  openedAt?: number
  receipt?: RestoreReceipt
  isolation?: Isolation
  containment?: Containment | undefined
  maxProcesses?: number | undefined
}

/** Makes the entry of a declared workspace and reads its stored ref. */
export function createEntry(
  declaration: WorkspaceDeclaration,
  deps: RegistryDeps,
  context: RegistryContext,
): RegistryEntry {
  const { name, provider } = declaration
  const entry: RegistryEntry = {
    name,
    declaration,
    capabilities: Object.freeze(
      Object.fromEntries(Object.keys(declaration.capabilities).map((module) => [module, true])),
    ),
    labels: { workspace: name, providerId: provider.kind },
    provider: deps.providers.get(provider.kind),
    state: 'declared',
    stateSince: context.clock.now(),
    unsuccessfulSince: undefined,
    ledger: new FileLedger(ownValue(deps.ledgers, name)),
    isLedgerNew: false,
    generation: 0,
    evictions: 0,
    retries: 0,
  }
  loadRef(entry, ownValue(deps.refs, name), context)
  return entry
}

/** Takes an event: the only place where a state changes. */
export function moveEntry(
  entry: RegistryEntry,
  event: WorkspaceEvent,
  context: RegistryContext,
): void {
  const previous = entry.state
  entry.state = nextState(previous, event)
  entry.stateSince = context.clock.now()
  context.metrics.setState(entry.labels, entry.state, previous)
}

/**
 * Notes that an open, resolve or operation begins, and when.
 * @returns what takes the note back, for an operation that was refused before it began.
 */
export function noteAttempt(entry: RegistryEntry, now: number): () => void {
  const { lastAttemptAt, unsuccessfulSince } = entry
  entry.lastAttemptAt = now
  entry.unsuccessfulSince ??= now
  return () => {
    if (entry.lastAttemptAt !== now) return
    entry.unsuccessfulSince = unsuccessfulSince
    if (lastAttemptAt === undefined) delete entry.lastAttemptAt
    else entry.lastAttemptAt = lastAttemptAt
  }
}

/** Notes that the last attempt succeeded. */
export function noteSuccess(entry: RegistryEntry, now: number): void {
  entry.lastSuccessAt = now
  entry.unsuccessfulSince = undefined
}

/** File system errors that may be trouble of the backend; any other is an answer of a sound one. */
const TROUBLE: ReadonlySet<FileSystemErrorCode> = new Set([
  'permission-denied',
  'storage-full',
  'content-missing',
])

/** Notes that an operation ended in an error: the mistakes of a model are no trouble of a workspace. */
export function noteError(
  entry: RegistryEntry,
  error: unknown,
  { now, takeBack }: { readonly now: number; readonly takeBack: () => void },
): void {
  if (PolicyError.isInstance(error) || ToolInputError.isInstance(error)) takeBack()
  else if (FileSystemError.isInstance(error) && !TROUBLE.has(error.code)) noteSuccess(entry, now)
}

/** Remembers why a workspace cannot be opened, for `describe()` and for later callers. */
export function failEntry(entry: RegistryEntry, error: HelixError, context: RegistryContext): void {
  entry.lastError = error
  entry.failure = { error, at: context.clock.now() }
  moveEntry(entry, 'fail', context)
}

export function isClosed(entry: RegistryEntry): boolean {
  return entry.state === 'closing' || entry.state === 'closed'
}

/** For after a wait: the registry may have closed meanwhile, even in the turn that ended it. */
export function assertNotClosed(entry: RegistryEntry): void {
  if (isClosed(entry)) throw closedError(entry.name)
}

export function closedError(name: string, cause?: unknown): WorkspaceFailedError {
  return new WorkspaceFailedError('closed', `workspace "${name}" is closed`, {
    ...(cause !== undefined && { cause }),
    hint: 'The session is ending: finish with what you have.',
  })
}

function loadRef(entry: RegistryEntry, stored: unknown, context: RegistryContext): void {
  if (stored === undefined || stored === null) return
  try {
    const ref = parseWorkspaceRef(stored)
    assertOwnRef(entry, ref)
    entry.ref = ref
  } catch (error) {
    if (!WorkspaceFailedError.isInstance(error)) throw error
    entry.refProblem = error
    failEntry(entry, error, context)
  }
}

/** @throws {WorkspaceFailedError} `ref-invalid` when another provider made the ref. */
export function assertOwnRef(entry: RegistryEntry, ref: WorkspaceRef): void {
  if (ref.providerId === entry.labels.providerId) return
  throw new WorkspaceFailedError(
    'ref-invalid',
    `the ref of workspace "${entry.name}" is of provider ${ref.providerId}, ` +
      `but ${entry.labels.providerId} is declared`,
  )
}

/** Names come from the agent's author, records from the store: only own keys count. */
function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

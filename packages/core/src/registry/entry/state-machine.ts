/** States of one workspace of a session. */
export type WorkspaceState =
  | 'declared'
  | 'opening'
  | 'open'
  | 'evicted'
  | 'failed'
  | 'closing'
  | 'closed'

/** What happens to a workspace. */
export type WorkspaceEvent = 'open' | 'opened' | 'evict' | 'fail' | 'reset' | 'close' | 'closed'

type Transitions = Readonly<Partial<Record<WorkspaceEvent, WorkspaceState>>>

const TRANSITIONS: Readonly<Record<WorkspaceState, Transitions>> = {
  // A stored ref that cannot be read fails before anything is opened.
  declared: { open: 'opening', fail: 'failed', close: 'closing' },
  opening: { opened: 'open', fail: 'failed', close: 'closing' },
  open: { evict: 'evicted', close: 'closing' },
  evicted: { open: 'opening', close: 'closing' },
  // `mayReopen` of retry-policy.ts decides whether a failed workspace opens again.
  failed: { open: 'opening', reset: 'declared', close: 'closing' },
  closing: { closed: 'closed' },
  closed: {},
}

/**
 * The state after an event. Pure.
 * @throws {TypeError} for a transition that does not exist, which is a defect of the caller.
 */
export function nextState(state: WorkspaceState, event: WorkspaceEvent): WorkspaceState {
  const next = TRANSITIONS[state][event]
  if (next === undefined) throw new TypeError(`a workspace that is ${state} cannot ${event}`)
  return next
}

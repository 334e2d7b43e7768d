import type { HelixError } from '../../errors/helix-error.ts'
import { closedError } from './entry-errors.ts'
import type { WorkspaceObserver } from '../observe.ts'
import type { RegistryContext } from '../registry-context.ts'
import { mayReopen, type OpenFailure } from '../retry-policy.ts'
import { nextState, type WorkspaceEvent, type WorkspaceState } from './state-machine.ts'

/** The state of one workspace, and why its last open failed. */
export class EntryState {
  readonly #name: string
  readonly #context: RegistryContext
  readonly #observer: WorkspaceObserver
  #state: WorkspaceState = 'declared'
  #since: number
  #failure: OpenFailure | undefined

  constructor(name: string, context: RegistryContext, observer: WorkspaceObserver) {
    this.#name = name
    this.#context = context
    this.#observer = observer
    this.#since = context.clock.now()
  }

  get value(): WorkspaceState {
    return this.#state
  }

  /** When the state was reached. */
  get since(): number {
    return this.#since
  }

  get isClosed(): boolean {
    return this.#state === 'closing' || this.#state === 'closed'
  }

  /** The only place where a state changes. */
  move(event: WorkspaceEvent): void {
    const previous = this.#state
    this.#state = nextState(previous, event)
    this.#since = this.#context.clock.now()
    this.#observer.moved(this.#state, previous)
  }

  fail(error: HelixError): void {
    this.#failure = { error, at: this.#context.clock.now() }
    this.move('fail')
  }

  forgetFailure(): void {
    this.#failure = undefined
  }

  /** @throws {HelixError} why the workspace cannot be opened now. */
  assertMayOpen(): void {
    this.assertNotClosed()
    if (this.#state !== 'failed' || this.#failure === undefined) return
    const { clock, resetAfterMs } = this.#context
    if (!mayReopen(this.#failure, clock.now(), resetAfterMs)) throw this.#failure.error
  }

  /** For after a wait: the registry may have closed in between, even in the turn that ended it. */
  assertNotClosed(): void {
    if (this.isClosed) throw closedError(this.#name)
  }
}

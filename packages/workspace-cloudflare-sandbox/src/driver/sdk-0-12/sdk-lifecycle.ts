import type { Clock } from '@helix-agents/core'
import { DriverError } from '../driver-error.ts'
import type { EnsureOptions, EnsureOutcome, MountRequest, SandboxIdentity } from '../port.ts'
import type { ContainerLink } from '../remote/container-link.ts'
import { ensureEpoch } from '../remote/ensure-epoch.ts'
import { classifyError } from './classify-error.ts'
import { field, readErrorShape } from './error-shape.ts'
import type { SdkCalls } from './sdk-calls.ts'
import type { MountBucketOptions, SandboxStub } from './stub.ts'

const DEADLINE_MS = 60_000
const CONFIRM_PROBES = 60
const CONFIRM_INTERVAL_MS = 500
/** What the SDK says of a path that has its mount. */
const MOUNTED = /mount path .*already in use/i
const QUICK = { deadlineMs: 15_000, isRepeatable: true }

/** What the lifecycle needs of a stub that was made without a word to the sandbox. */
export type StateStub = Pick<SandboxStub, 'getState' | 'getContainerPlacementId'>

export interface SdkLifecycleOptions {
  readonly calls: SdkCalls
  readonly link: ContainerLink
  readonly clock: Clock
  /** Gives a stub without configuring the sandbox, which would write to its storage. */
  readonly glance: () => StateStub | undefined
}

/** Start, identity and end of one container. */
export class SdkLifecycle {
  readonly #options: SdkLifecycleOptions

  constructor(options: SdkLifecycleOptions) {
    this.#options = options
  }

  async identity(): Promise<SandboxIdentity> {
    const stub = this.#options.glance()
    const probe = async <T>(ask: (stub: StateStub) => Promise<T>): Promise<T> =>
      stub === undefined ? this.#options.calls.make(ask, QUICK) : ask(stub)
    const [state, placement] = await Promise.allSettled([
      probe((at) => at.getState()),
      probe((at) => at.getContainerPlacementId()),
    ])
    return {
      placement: placement.status === 'fulfilled' ? (placement.value ?? null) : null,
      running: state.status === 'fulfilled' ? isRunning(state.value.status) : 'unknown',
    }
  }

  async ensure(options: EnsureOptions): Promise<EnsureOutcome> {
    const call = { ...QUICK, deadlineMs: DEADLINE_MS, signal: options.signal }
    const [ensured, placement] = await Promise.all([
      ensureEpoch(this.#options.link, options),
      this.#options.calls.make((stub) => stub.getContainerPlacementId(), call),
    ])
    return { ...ensured, placement: placement ?? null }
  }

  /** Mounting again what is mounted changes nothing. */
  async mount({ bucket, path, ...request }: MountRequest): Promise<void> {
    const options = mountOptions(request)
    try {
      await this.#options.calls.make((stub) => stub.mountBucket(bucket, path, options), {
        deadlineMs: DEADLINE_MS,
        isRepeatable: false,
      })
    } catch (error) {
      if (!MOUNTED.test(readErrorShape(field(error, 'cause')).message)) throw error
    }
  }

  async destroy(): Promise<'destroyed' | 'was-absent'> {
    const { calls, link } = this.#options
    const before = await this.#isRunning()
    const [destroyed] = await Promise.allSettled([
      calls.make((stub) => stub.destroy(), { deadlineMs: DEADLINE_MS, isRepeatable: true }),
    ])
    link.epoch = ''
    const cause: unknown = destroyed.status === 'rejected' ? destroyed.reason : undefined
    await this.#confirmStopped(cause)
    if (destroyed.status === 'rejected') throw unconfirmed(cause)
    return before === false ? 'was-absent' : 'destroyed'
  }

  async #confirmStopped(cause: unknown): Promise<void> {
    for (let probes = 0; probes < CONFIRM_PROBES; probes += 1) {
      if ((await this.#isRunning()) === false) return
      await this.#options.clock.sleep(CONFIRM_INTERVAL_MS)
    }
    throw unconfirmed(cause)
  }

  async #isRunning(): Promise<boolean | 'unknown'> {
    try {
      const { status } = await this.#options.calls.make((stub) => stub.getState(), QUICK)
      return isRunning(status)
    } catch (error) {
      if (classifyError(error).error.code === 'replaced') throw error
      return 'unknown'
    }
  }
}

function isRunning(status: string): boolean | 'unknown' {
  if (status === 'running' || status === 'healthy') return true
  return status === 'stopped' || status === 'stopped_with_code' ? false : 'unknown'
}

/** Keys never enter the container: the object signs what the container asks for. */
function mountOptions(request: Omit<MountRequest, 'bucket' | 'path'>): MountBucketOptions {
  const common = {
    ...(request.prefix !== undefined && { prefix: `/${request.prefix.replace(/^\/+/, '')}` }),
    ...(request.readOnly !== undefined && { readOnly: request.readOnly }),
  }
  if (request.local === true) return { ...common, localBucket: true }
  if (request.endpoint === undefined) return common
  return { ...common, endpoint: request.endpoint, credentialProxy: true }
}

function unconfirmed(cause: unknown): DriverError {
  const detail = 'the platform did not confirm the end of the sandbox'
  return new DriverError('destroy-unconfirmed', detail, { admitted: 'unknown', cause })
}

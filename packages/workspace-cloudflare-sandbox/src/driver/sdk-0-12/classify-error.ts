import { type CallAdmission, DriverError, type DriverErrorOptions } from '../driver-error.ts'
import type { DriverErrorCode } from '../driver-error.ts'
import {
  causesOf,
  describeCause,
  type ErrorShape,
  field,
  readErrorShape,
  tellableLine,
} from './error-shape.ts'
import { CODES, meaningOfFileWords } from './error-codes.ts'

/** What to make of an error of the SDK or the platform. */
export interface Classified {
  readonly error: DriverError
  /** The same call may succeed when it is made again at once. */
  readonly isRetryable: boolean
}

type Reason = NonNullable<DriverErrorOptions['reason']>

const OUT_OF_MEMORY_EXIT = 137

/** Reads errors by code, name and message only: no class survives the way between objects. */
export function classifyError(thrown: unknown): Classified {
  if (thrown instanceof DriverError) return { error: thrown, isRetryable: false }
  const shape = readErrorShape(thrown)
  return (
    ofDeploy(thrown) ??
    ofCapacity(thrown) ??
    ofConnection(shape, thrown) ??
    ofCode(shape, thrown) ??
    ofPlatform(shape, thrown) ?? {
      error: fail('failed', 'the sandbox failed', { admitted: 'unknown', cause: thrown }),
      isRetryable: false,
    }
  )
}

const REPLACED = /reset because its code was updated|this script has been upgraded/i
const CAPACITY =
  /no container instance (that can be provided|available)|maximum number of running container instances exceeded/i
const PLATFORM =
  /network connection lost|disconnected prematurely|caused object to be reset|container failed to start|internal error; reference/i
const SPAWN = /(ENOENT|ENOTDIR|no such file|not a directory).*(spawn|bash)/i

function ofDeploy(thrown: unknown): Classified | undefined {
  if (!anyMessage(thrown, REPLACED)) return undefined
  const detail = 'the sandbox was replaced by a deployment'
  return {
    error: fail('replaced', detail, { admitted: 'unknown', cause: thrown }),
    isRetryable: false,
  }
}

function ofCapacity(thrown: unknown): Classified | undefined {
  if (!anyMessage(thrown, CAPACITY)) return undefined
  return { error: unavailable('capacity', retryAfter(thrown), thrown), isRetryable: false }
}

const UNAVAILABLE_REASONS: ReadonlyMap<string, Reason> = new Map(
  Object.entries<Reason>({
    container_starting: 'starting',
    container_unhealthy: 'unhealthy',
    container_replaced: 'starting',
    rpc_upgrade_failed: 'starting',
    no_container_instance_available: 'capacity',
    max_container_instances_exceeded: 'capacity',
    container_unreachable: 'unhealthy',
  }),
)

function ofConnection(shape: ErrorShape, thrown: unknown): Classified | undefined {
  if (shape.code === 'CONTAINER_UNAVAILABLE') {
    const reason = UNAVAILABLE_REASONS.get(String(field(shape.context, 'reason'))) ?? 'starting'
    const error = unavailable(reason, retryAfter(thrown), thrown)
    return { error, isRetryable: reason !== 'capacity' }
  }
  if (shape.code === 'RPC_TRANSPORT_ERROR') {
    const detail = 'the connection to the container was lost'
    const error = fail('interrupted', detail, { admitted: 'unknown', cause: thrown })
    return { error, isRetryable: true }
  }
  if (shape.code === 'STALE_PROCESS_HANDLE') return interrupted({ ...shape, context: {} }, thrown)
  return shape.code === 'OPERATION_INTERRUPTED' ? interrupted(shape, thrown) : undefined
}

function interrupted({ context }: ErrorShape, thrown: unknown): Classified {
  const admitted = ADMISSIONS.get(String(field(context, 'admitted'))) ?? 'unknown'
  const reason = field(context, 'reason')
  const isGone = reason === 'sandbox_lifetime_changed'
  const isOutOfMemory = field(context, 'containerExitCode') === OUT_OF_MEMORY_EXIT
  const why = isOutOfMemory ? ' (it was killed, perhaps for want of memory)' : ''
  const detail = isGone
    ? 'the sandbox was destroyed during the operation'
    : `the container stopped during the operation${why}`
  const error = fail('interrupted', detail, {
    admitted,
    cause: thrown,
    ...(isOutOfMemory && { reason: 'memory' }),
  })
  // The SDK's own mark is about calls that must not run twice: the caller knows which may.
  const isOver = isGone || reason === 'recovery_exhausted'
  const isMarked = admitted !== 'no' || field(context, 'retryable') === true
  return { error, isRetryable: isMarked && !isOver }
}

/** The SDK says `true` of what it handed to the connection: it need not have run. */
const ADMISSIONS: ReadonlyMap<string, CallAdmission> = new Map(
  Object.entries<CallAdmission>({
    true: 'unknown',
    false: 'no',
    unknown: 'unknown',
  }),
)

function ofCode(shape: ErrorShape, thrown: unknown): Classified | undefined {
  const { code, message } = shape
  if (code === undefined) return undefined
  if (code === 'INTERPRETER_NOT_READY') {
    return { error: unavailable('starting', retryAfter(thrown), thrown), isRetryable: true }
  }
  if (['COMMAND_EXECUTION_ERROR', 'STREAM_START_ERROR'].includes(code) && SPAWN.test(message)) {
    const detail = 'the workspace directory is missing'
    const error = fail('directory-missing', detail, { admitted: 'no', cause: thrown })
    return { error, isRetryable: false }
  }
  const known = code === 'FILESYSTEM_ERROR' ? ofFileWords(shape) : CODES.get(code)
  if (known === undefined) return undefined
  const [ours, sentence] = known
  const detail =
    ours === 'not-configured' ? `${sentence}: ${tellableLine(shape.message)}` : sentence
  return { error: fail(ours, detail, { admitted: 'yes', cause: thrown }), isRetryable: false }
}

/** A path may hold any word: what the tool itself said comes first. */
function ofFileWords({ message, context }: ErrorShape): ReturnType<typeof meaningOfFileWords> {
  const stderr = field(context, 'stderr')
  return meaningOfFileWords(typeof stderr === 'string' && stderr !== '' ? stderr : message)
}

function ofPlatform(shape: ErrorShape, thrown: unknown): Classified | undefined {
  if (/container failed to start/i.test(shape.message)) {
    return { error: unavailable('starting', undefined, thrown), isRetryable: true }
  }
  if (!anyMessage(thrown, PLATFORM) && !shape.isRetryable) return undefined
  const error = fail('interrupted', 'the connection to the sandbox was lost', {
    admitted: 'unknown',
    cause: thrown,
  })
  return { error, isRetryable: !shape.isOverloaded }
}

function unavailable(
  reason: Reason,
  retryAfterMs: number | undefined,
  cause: unknown,
): DriverError {
  const detail =
    reason === 'capacity'
      ? 'the platform has no room for another container now'
      : 'the container is not ready yet'
  return fail('unavailable', detail, {
    admitted: 'no',
    cause,
    reason,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

function retryAfter(thrown: unknown): number | undefined {
  const delay = field(readErrorShape(thrown).context, 'retryAfterMs')
  return typeof delay === 'number' && delay >= 0 ? delay : undefined
}

function anyMessage(thrown: unknown, pattern: RegExp): boolean {
  return causesOf(thrown).some((cause) => pattern.test(readErrorShape(cause).message))
}

function fail(code: DriverErrorCode, detail: string, options: DriverErrorOptions): DriverError {
  return new DriverError(code, detail, { ...options, cause: describeCause(options.cause) })
}

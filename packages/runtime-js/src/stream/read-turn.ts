import { SessionError } from '@helix-agents/core'
import type {
  EnqueuedTurn,
  SequencedChunk,
  StreamReaderOptions,
  TurnQueuePort,
  TurnStatus,
} from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { readStream } from './read-stream.ts'

/** A turn, and the queue that has it. */
export interface TurnOfQueue extends EnqueuedTurn {
  readonly queue: TurnQueuePort
}

/** Pauses between two checks of a turn that waits, growing. */
const FIRST_PAUSE_MS = 25
const MAX_PAUSE_MS = 500

/** @throws {SessionError} `turn-rejected` */
export async function untilTurnEnds(services: RunServices, turn: TurnOfQueue): Promise<TurnStatus> {
  const pauses = new Pauses(services)
  for (;;) {
    const status = await statusOf(turn)
    if (status.state === 'ended') return status
    await pauses.next()
  }
}

/**
 * Reads the chunks of a turn: from the start of its run, also when a worker begins it later, to its
 * end, also when another worker ends it.
 */
export async function* readTurn(
  services: RunServices,
  turn: TurnOfQueue,
  options: StreamReaderOptions = {},
): AsyncGenerator<SequencedChunk> {
  const { signal } = options
  const { sessionId } = turn
  let position = options.fromSequence
  const earlierRun = position === undefined ? await untilBegun(services, turn, signal) : undefined
  const pauses = new Pauses(services)
  for (;;) {
    // Before the read: what is written until the end of the turn is read then.
    const status = await statusOf(turn)
    // What is there is of an earlier turn.
    if (hasNothing(status, position)) return
    const isOver = status.state === 'ended' || signal?.aborted === true
    const from = readFrom(options, position)
    for await (const entry of readStream(services, sessionId, from)) {
      position = entry.sequence + 1
      if (entry.agentId !== earlierRun) yield entry
    }
    if (isOver) return
    await pauses.next()
  }
}

function readFrom(options: StreamReaderOptions, position: number | undefined): StreamReaderOptions {
  return position === undefined ? options : { ...options, fromSequence: position }
}

/** It was aborted before it began, or before anything of it was read. */
function hasNothing({ isAborted }: TurnStatus, position: number | undefined): boolean {
  return isAborted === true && position === undefined
}

/** @returns the run of the session before the one of the turn */
async function untilBegun(
  services: RunServices,
  turn: TurnOfQueue,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const pauses = new Pauses(services)
  let earlierRun: string | undefined
  for (;;) {
    const { hasBegun, runId } = await lookAt(services, turn)
    if (hasBegun || signal?.aborted === true) {
      // It began between two looks when it is still that run.
      return runId === earlierRun ? undefined : earlierRun
    }
    earlierRun = runId
    await pauses.next()
  }
}

async function lookAt({ stateStore }: RunServices, { queue, sessionId, turnId }: TurnOfQueue) {
  const { state } = await queue.turnStatus(turnId)
  const session = await stateStore.loadSession(sessionId)
  // Turns of one session run one after the other: what runs while this one is active is its run.
  const isRunning = state === 'active' && session?.status === 'running'
  return { hasBegun: state === 'ended' || isRunning, runId: session?.runId }
}

/** @throws {SessionError} `turn-rejected` */
async function statusOf({ queue, sessionId, turnId }: TurnOfQueue): Promise<TurnStatus> {
  const status = await queue.turnStatus(turnId)
  const { rejected } = status
  if (rejected === undefined) return status
  throw new SessionError('turn-rejected', sessionId, `no worker could start its turn: ${rejected}`)
}

class Pauses {
  readonly #clock: RunServices['clock']
  #ms = FIRST_PAUSE_MS

  constructor({ clock }: Pick<RunServices, 'clock'>) {
    this.#clock = clock
  }

  async next(): Promise<void> {
    await this.#clock.sleep(this.#ms)
    this.#ms = Math.min(MAX_PAUSE_MS, this.#ms * 2)
  }
}

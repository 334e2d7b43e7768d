import { check, ConformanceError } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import type { BoundCall, BoundSubject, BoundTarget } from './bound-subject.ts'
import type { BoundScale } from './bound-scale.ts'

/** Longest time that one call may keep timers waiting, in milliseconds. */
export const MAX_HOLD_MS = 50
/** A measured hold fails from so many times the limit on: collections of garbage count as well. */
export const HOLD_TOLERANCE = 2
/**
 * Most by which a call may grow the process, in bytes: 16 times the 10 MB that a file may have.
 * Garbage is included, which V8 lets grow before it collects.
 */
export const MAX_PEAK_BYTES = 160 * 1_048_576
/** Turns within which a call must end that is aborted. */
const MAX_TURNS_AFTER_ABORT = 100

/** A call cost more than its bounds. Other programs on the machine may have added to it. */
export class BoundExceededError extends ConformanceError {}

/** A clause about what a call may cost. */
export type BoundBehaviour = Behaviour<BoundSubject>

/** A hostile workspace and the arguments of one call. */
export interface BoundCase {
  /** `<tool>/<what is hostile>`. */
  readonly name: string
  readonly needs?: readonly string[]
  /** Makes what the call meets; not measured. What it returns is given to `input`. */
  prepare?(subject: BoundSubject, scale: BoundScale): Promise<unknown>
  input(scale: BoundScale, prepared: unknown): object
  /** Results that are right, of any target or of this one. Default: every one but `internal`. */
  readonly results?: readonly string[] | ((target: BoundTarget) => readonly string[])
  /** Characters of output that the call must have streamed while it ran. */
  streams?(scale: BoundScale): number
}

/** A call must stay within its bounds and end with a result that a model can use. */
export function boundBehaviour(one: BoundCase): BoundBehaviour {
  const id = `bounds/${one.name}`
  return {
    id,
    needs: ['fs', ...(one.needs ?? [])],
    // Making what is hostile takes its time, on a busy machine more than the call itself.
    slow: true,
    run: async (subject) => {
      const tool = toolOf(one)
      await warmUp(subject)
      const prepared = await one.prepare?.(subject, subject.target.scale)
      const call = await subject.call(tool, one.input(subject.target.scale, prepared))
      report(subject, id, tool, call)
      checkCost(call)
      checkResult(call, resultsOf(one, subject))
      const most = one.streams?.(subject.target.scale) ?? 0
      check(call.streamed >= most, `${most} characters of progress, got ${call.streamed}`)
    },
  }
}

/** A call that is aborted in its first turns must end soon, and say so. */
export function abortBehaviour(one: BoundCase): BoundBehaviour {
  const id = `bounds/${one.name}-obeys-an-abort`
  return {
    id,
    needs: ['fs', ...(one.needs ?? [])],
    slow: true,
    run: async (subject) => {
      const tool = toolOf(one)
      await warmUp(subject)
      const prepared = await one.prepare?.(subject, subject.target.scale)
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), 2)
      const call = await subject.call(
        tool,
        one.input(subject.target.scale, prepared),
        controller.signal,
      )
      clearTimeout(timer)
      report(subject, id, tool, call)
      checkResult(call, ['aborted'])
      checkCost(call)
      check(
        call.turns <= MAX_TURNS_AFTER_ABORT,
        `an end soon after the abort, got ${call.turns} turns`,
      )
    },
  }
}

function resultsOf({ results }: BoundCase, subject: BoundSubject): readonly string[] | undefined {
  return typeof results === 'function' ? results(subject.target) : results
}

function toolOf(one: BoundCase): string {
  return one.name.slice(0, one.name.indexOf('/'))
}

/** Schemas, engines and code that a first call loads are not what is measured. */
async function warmUp(subject: BoundSubject): Promise<void> {
  const file = '/warm-up/a.txt'
  await subject.fs.writeFile(file, 'warm\nup\n')
  await subject.warmUp('read_file', { path: file })
  await subject.warmUp('edit_file', { path: file, oldText: 'up', newText: 'down' })
  await subject.warmUp('grep', { pattern: 'w[a]rm{1,2}', opts: { path: file, context: 1 } })
  await subject.warmUp('glob', { pattern: 'warm-up/**/*.{txt,md}' })
  await subject.warmUp('ls', { path: '/warm-up' })
  await subject.warmUp('rm', { path: '/warm-up', opts: { recursive: true } })
}

function report(subject: BoundSubject, behaviour: string, tool: string, call: BoundCall): void {
  const { holdMs, peakBytes, turns, result } = call
  const { provider } = subject.target
  subject.target.report?.({ provider, tool, behaviour, result, holdMs, peakBytes, turns })
}

function checkCost(call: BoundCall): void {
  const { holdMs, peakBytes } = call
  const most = MAX_HOLD_MS * HOLD_TOLERANCE
  if (holdMs > most) {
    const got = `got ${holdMs.toFixed(0)} ms`
    throw new BoundExceededError(`expected the event loop held for at most ${most} ms, ${got}`)
  }
  if (peakBytes > MAX_PEAK_BYTES) {
    throw new BoundExceededError(`expected at most ${MAX_PEAK_BYTES} bytes more, got ${peakBytes}`)
  }
}

function checkResult(call: BoundCall, results?: readonly string[]): void {
  const isRight = results?.includes(call.result) ?? call.result !== 'internal'
  const wanted = results?.join(' or ') ?? 'a result that a model can use'
  check(isRight, `${wanted}, got ${call.result}: ${call.text.slice(0, 200)}`)
}

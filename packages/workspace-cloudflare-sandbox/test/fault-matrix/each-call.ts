import type { Fault } from '@helix-agents/sandbox-testbed'
import type { Bench, RemoteWorkspace } from '../testbed/bench.ts'
import { type End, ends } from './cells.ts'
import type { LongOperation } from './long-operations.ts'
import { assertLive, endOf } from './meet.ts'

/** More calls than any operation makes. */
const MOST_CALLS = 40
const CUT_OFF_BYTES = 100_000

/** Every way to cut one call off. */
export const cuts: readonly Fault[] = [
  { kind: 'interrupted', when: 'before-admission' },
  { kind: 'lost-reply' },
]

/** One attempt at an operation. */
export interface Turn {
  /** For messages: what was cut. */
  readonly cut: string
  readonly id: string
  readonly end: string
  readonly isCut: boolean
}

/** What is put to the test. */
export interface Met {
  readonly bench: Bench
  readonly sandbox: string
  /** One attempt; each has an id of its own. */
  readonly run: (id: string) => Promise<unknown>
  /** After each attempt, with all faults removed. */
  readonly after: (turn: Turn) => Promise<void>
  /** Default: all of them. */
  readonly cuts?: readonly Fault[]
  /** Who sends a long stream, which is cut off in its middle as well. */
  readonly streams?: 'worker' | 'container' | undefined
}

/** An attempt with the first call cut off, then the second, until there are no more; in each way. */
export async function meetEachCall(met: Met): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  const take = async (fault: Fault): Promise<boolean> => {
    const injected = met.bench.testbed.faults.inject({ ...fault, sandbox: met.sandbox, times: 1 })
    const id = `a${turns.length}-${crypto.randomUUID()}`
    const end = await endOf(met.run(id)).finally(() => injected.remove())
    const cut = JSON.stringify(fault)
    const turn = { cut, id, end, isCut: injected.hits > 0 }
    turns.push(turn)
    await met.after(turn)
    return turn.isCut
  }
  for (const fault of met.cuts ?? cuts) {
    let skip = 0
    while (await take({ ...fault, skip })) if (++skip > MOST_CALLS) throw new Error('it never ends')
  }
  const { streams: sender } = met
  if (sender !== undefined) await take({ kind: 'cut-off', sender, afterBytes: CUT_OFF_BYTES })
  return turns
}

/** @returns what must not be, one line each. */
export async function meetOperation(
  bench: Bench,
  ws: RemoteWorkspace,
  operation: LongOperation,
): Promise<readonly string[]> {
  const turns = await meetEachCall({
    bench,
    sandbox: ws.id,
    run: async (id) => {
      const result = await operation.run({ ws, id })
      if (result !== operation.result) throw new Error(`${operation.name} gave ${String(result)}`)
    },
    after: () => assertLive(ws),
    streams: operation.streams,
  })
  const { look } = operation
  const script = turns.map(({ id }) => `{ ${look?.(id) ?? 'echo done'}; } | tr '\\n' ' '; echo`)
  const seen = (await ws.output(script.join('\n'))).split('\n').map((line) => line.trim())
  return turns.flatMap((turn, index) => {
    const problem = problemOf(turn, seen[index], operation.ends)
    return problem === undefined ? [] : [`${operation.name} under ${turn.cut}: ${problem}`]
  })
}

/** What is there of a change: all of it, or nothing; all of it when that is what was told. */
function problemOf(
  { end, isCut }: Turn,
  seen: string | undefined,
  allowed: readonly End[],
): string | undefined {
  const told = (isCut ? allowed : (['done'] as const)).map((one): string => ends[one])
  if (!told.includes(end)) return end
  if (seen === 'done' && end !== ends.repeat) return undefined
  if (seen === '-' && end !== ends.done) return undefined
  return `${end}, and there is ${seen}`
}

import type { Measurement } from './measure.ts'

/** What a figure of ours must keep: both are ratios within one run. */
export interface Gate {
  /** Ours ÷ limit. */
  readonly most?: number
  /** Best peer ÷ ours. */
  readonly peerLeast?: number
}

export interface Group {
  readonly title: string
  /** Names of the measurements that are ours, and the limit they are held against. */
  readonly ours: string
  readonly limit: string
  readonly measurements: readonly Measurement[]
  readonly gate: Gate
  readonly unit?: 'µs' | 'ms' | 'B'
}

export interface Verdict {
  readonly title: string
  readonly ratio: number
  readonly peerRatio: number | undefined
  readonly kept: boolean
}

/** Prints one table and says whether its gate holds. */
export function report(group: Group): Verdict {
  const of = (name: string): number =>
    group.measurements.find((one) => one.name === name)?.microseconds ?? Number.NaN
  const [ours, limit] = [of(group.ours), of(group.limit)]
  console.log(`\n${group.title}`)
  for (const { name, microseconds } of group.measurements) {
    const mark = name === group.ours ? '▸' : name === group.limit ? '·' : ' '
    console.log(
      `  ${mark} ${name.padEnd(44)} ${figure(microseconds, group.unit)}  ${times(microseconds / limit)} limit`,
    )
  }
  const peers = group.measurements.filter((one) => ![group.ours, group.limit].includes(one.name))
  const best = Math.min(...peers.map((peer) => peer.microseconds))
  const verdict = judge(group, ours / limit, peers.length === 0 ? undefined : best / ours)
  console.log(`  ${verdict.kept ? 'kept  ' : 'MISSED'} ${describe(group.gate, verdict)}`)
  return verdict
}

function judge(group: Group, ratio: number, peerRatio: number | undefined): Verdict {
  const { most, peerLeast } = group.gate
  const limitKept = most === undefined || ratio <= most
  const peerKept = peerLeast === undefined || peerRatio === undefined || peerRatio >= peerLeast
  return { title: group.title, ratio, peerRatio, kept: limitKept && peerKept }
}

function describe({ most, peerLeast }: Gate, { ratio, peerRatio }: Verdict): string {
  const limit = most === undefined ? '' : `${times(ratio)} limit (goal ≤ ${most})`
  if (peerRatio === undefined) return limit
  const goal = peerLeast === undefined ? '' : ` (goal ≥ ${peerLeast})`
  return `${limit}  best peer ÷ ours ${peerRatio.toFixed(2)}${goal}`.trim()
}

function figure(microseconds: number, unit: Group['unit'] = 'µs'): string {
  const value = unit === 'ms' ? microseconds / 1000 : microseconds
  return `${value.toFixed(value < 100 ? 2 : 0).padStart(10)} ${unit}`
}

function times(ratio: number): string {
  return `${ratio.toFixed(2).padStart(7)} ×`
}

/** Closes the run: one line a gate. */
export function summarise(verdicts: readonly Verdict[]): void {
  console.log(
    '\nsummary                                                        ours ÷ limit   peer ÷ ours',
  )
  for (const { title, ratio, peerRatio, kept } of verdicts) {
    const peer = peerRatio === undefined ? '' : peerRatio.toFixed(2).padStart(14)
    console.log(`${kept ? '  ' : '! '}${title.padEnd(60)} ${ratio.toFixed(2).padStart(12)}${peer}`)
  }
  const missed = verdicts.filter((verdict) => !verdict.kept).length
  console.log(`\n${verdicts.length - missed} of ${verdicts.length} gates kept`)
}

/** What the order of a call depends on. */
export interface ScheduledCall {
  readonly readOnly: boolean
  /** What the call reads or changes; absent: nothing that another call of the step touches. */
  readonly orderKey?: string
}

/**
 * Says for each call of a step which earlier ones it waits for, by index. Calls that only read
 * run side by side; a call that changes something waits for all earlier calls with its key, and
 * later ones with that key wait for it. So every call sees the world as if the calls had run
 * one after the other.
 */
export function scheduleToolCalls(calls: readonly ScheduledCall[]): readonly (readonly number[])[] {
  const lanes = new Map<string, Lane>()
  return calls.map((call, index) => {
    if (call.orderKey === undefined) return []
    const lane = lanes.get(call.orderKey) ?? { reads: [] }
    const changes = lane.change === undefined ? [] : [lane.change]
    if (call.readOnly) {
      lane.reads.push(index)
      lanes.set(call.orderKey, lane)
      return changes
    }
    lanes.set(call.orderKey, { change: index, reads: [] })
    return lane.reads.length === 0 ? changes : lane.reads
  })
}

interface Lane {
  readonly change?: number
  /** Reads since the last change; they waited for it themselves. */
  readonly reads: number[]
}

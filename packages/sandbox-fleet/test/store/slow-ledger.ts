import { MemoryFleetStore } from '@helix-agents/sandbox-fleet'

/** A ledger that takes its time for each write, and counts those under way. */
export class SlowLedger extends MemoryFleetStore {
  writing = 0

  constructor() {
    super()
    for (const name of [
      'create',
      'update',
      'prune',
      'addUsage',
      'releaseLease',
      'writeState',
    ] as const) {
      const write = this[name].bind(this) as (...call: readonly unknown[]) => Promise<unknown>
      Object.assign(this, {
        [name]: async (...call: readonly unknown[]) => {
          this.writing += 1
          for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
          this.writing -= 1
          return write(...call)
        },
      })
    }
  }
}

import type { WorkHost } from './work-probe.ts'

/** The part of Node's `process` that is used. */
export interface NodeProcess {
  threadCpuUsage(): { readonly user: number; readonly system: number }
  getBuiltinModule(id: 'node:fs'): NodeFiles
  getBuiltinModule(id: 'node:v8'): NodeHeap
  getBuiltinModule(id: 'node:vm'): { runInNewContext(code: string): () => void }
}

interface NodeHeap {
  getHeapStatistics(): { readonly used_heap_size: number; readonly external_memory: number }
  setFlagsFromString(flag: string): void
}

interface NodeFiles {
  readFileSync(path: string, encoding: 'utf8'): string
  writeFileSync(path: string, text: string): void
}

/** Options of the measurement in Node. */
export interface NodeWorkHostOptions {
  /**
   * `Date` and `performance` stand still during synchronous work, as in Workers. What yields by
   * the clock must also yield there.
   */
  readonly stillClock?: boolean
}

const BYTES_PER_KB = 1024

/**
 * Measures in Node, on Linux. Turns are seen by a timer of 1 ms: two turns shorter than that may
 * count as one. Memory is the growth since a collection of garbage before the call, the larger of
 * two: of the resident set of the process at its peak (`VmHWM`), which sees every allocation but
 * starts from what the process had not given back, and of heap and buffers, seen once a turn.
 * Nothing else may run in the process.
 *
 * @param node Pass `process`.
 */
export function createNodeWorkHost(node: NodeProcess, options: NodeWorkHostOptions = {}): WorkHost {
  const heap = node.getBuiltinModule('node:v8')
  collectOnce ??= garbageCollector(node)
  const collect = collectOnce
  const files = node.getBuiltinModule('node:fs')
  const used = (): number => {
    const { used_heap_size, external_memory } = heap.getHeapStatistics()
    return used_heap_size + external_memory
  }
  let mostUsed = 0
  return {
    cpuMs: () => {
      const { user, system } = node.threadCpuUsage()
      return (user + system) / 1000
    },
    startPeak: () => {
      collectAll(collect, () => heap.getHeapStatistics().external_memory)
      files.writeFileSync('/proc/self/clear_refs', '5')
      const resident = statusBytes(files, 'VmRSS')
      const usedBefore = used()
      mostUsed = usedBefore
      return () =>
        Math.max(mostUsed - usedBefore, statusBytes(files, 'VmHWM') - resident, used() - usedBefore)
    },
    everyTurn: (callback) => {
      const clocks = options.stillClock === true ? stopClocks() : undefined
      const timer = setInterval(() => {
        clocks?.advance()
        mostUsed = Math.max(mostUsed, used())
        callback()
      }, 1)
      return () => {
        clearInterval(timer)
        clocks?.restore()
      }
    },
  }
}

interface StoppedClocks {
  readonly advance: () => void
  readonly restore: () => void
}

/** Freezes the clocks between two turns. */
function stopClocks(): StoppedClocks {
  const { now } = Date
  const performanceNow = performance.now.bind(performance)
  let [date, elapsed] = [now(), performanceNow()]
  Date.now = () => date
  performance.now = () => elapsed
  return {
    advance: () => {
      date = now()
      elapsed = performanceNow()
    },
    restore: () => {
      Date.now = now
      performance.now = performanceNow
    },
  }
}

/** Of the process; each one has a context of its own, which later collections visit. */
let collectOnce: (() => void) | undefined
/** Bytes of buffers that were left after a collection, at least. */
let leastExternal = 0
const SOME_EXTERNAL = 1_048_576

/** Buffers that a collection has found are given back before the next one begins. */
function collectAll(collect: () => void, external: () => number): void {
  collect()
  if (external() <= leastExternal + SOME_EXTERNAL) return
  collect()
  leastExternal = external()
}

function garbageCollector(node: NodeProcess): () => void {
  node.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  return node.getBuiltinModule('node:vm').runInNewContext('gc')
}

function statusBytes(files: NodeFiles, field: string): number {
  const status = files.readFileSync('/proc/self/status', 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * BYTES_PER_KB
}

import type { WorkHost } from './work-probe.ts'

/** The part of Node's `process` that is used. */
export interface NodeProcess {
  threadCpuUsage(): { readonly user: number; readonly system: number }
  getBuiltinModule(id: 'node:fs'): NodeFiles
  getBuiltinModule(id: 'node:v8'): { setFlagsFromString(flag: string): void }
  getBuiltinModule(id: 'node:vm'): { runInNewContext(code: string): () => void }
}

interface NodeFiles {
  readFileSync(path: string, encoding: 'utf8'): string
  writeFileSync(path: string, text: string): void
}

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
 * count as one. Memory is the resident set of the process (`VmHWM`), reset before each call after
 * a collection of garbage, so what is measured is one process: nothing else may run in it.
 *
 * @param node Pass `process`.
 */
export function createNodeWorkHost(node: NodeProcess, options: NodeWorkHostOptions = {}): WorkHost {
  const collect = garbageCollector(node)
  const files = node.getBuiltinModule('node:fs')
  return {
    cpuMs: () => {
      const { user, system } = node.threadCpuUsage()
      return (user + system) / 1000
    },
    startPeak: () => {
      collect()
      files.writeFileSync('/proc/self/clear_refs', '5')
      const start = statusBytes(files, 'VmRSS')
      return () => Math.max(0, statusBytes(files, 'VmHWM') - start)
    },
    everyTurn: (callback) => {
      const release = options.stillClock === true ? stopClocks(callback) : undefined
      const timer = setInterval(release?.tick ?? callback, 1)
      return () => {
        clearInterval(timer)
        release?.restore()
      }
    },
  }
}

/** Freezes the clocks between two turns. */
function stopClocks(callback: () => void): {
  readonly tick: () => void
  readonly restore: () => void
} {
  const { now } = Date
  const performanceNow = performance.now.bind(performance)
  let [date, elapsed] = [now(), performanceNow()]
  Date.now = () => date
  performance.now = () => elapsed
  return {
    tick: () => {
      date = now()
      elapsed = performanceNow()
      callback()
    },
    restore: () => {
      Date.now = now
      performance.now = performanceNow
    },
  }
}

function garbageCollector(node: NodeProcess): () => void {
  node.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  return node.getBuiltinModule('node:vm').runInNewContext('gc')
}

function statusBytes(files: NodeFiles, field: string): number {
  const status = files.readFileSync('/proc/self/status', 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * BYTES_PER_KB
}

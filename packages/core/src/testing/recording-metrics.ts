import { noopMetrics, type WorkspaceMetrics } from '../workspace/metrics.ts'

/** Metrics that count the calls of each method. */
export interface RecordedMetrics extends WorkspaceMetrics {
  /** How often a method was called. */
  count(method: keyof WorkspaceMetrics): number
  /** Arguments of each call of a method. */
  calls(method: keyof WorkspaceMetrics): readonly (readonly unknown[])[]
}

/** Counts every call, for assertions. */
export function createRecordingMetrics(): RecordedMetrics {
  const recorded = new Map<string, unknown[][]>()
  const methods = Object.keys(noopMetrics).map((name) => [
    name,
    (...args: unknown[]) => {
      const calls = recorded.get(name) ?? []
      calls.push(args)
      recorded.set(name, calls)
    },
  ])
  return {
    ...noopMetrics,
    ...Object.fromEntries(methods),
    count: (method) => recorded.get(method)?.length ?? 0,
    calls: (method) => recorded.get(method) ?? [],
  }
}

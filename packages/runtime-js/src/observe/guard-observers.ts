import { type Logger, noopLogger } from '@helix-agents/core'
import { noopMetrics, type WorkspaceMetrics } from '@helix-agents/core/runtime'

/** A logger that cannot break what it logs: a line that cannot be written is lost. */
export function guardLogger(logger: Logger = noopLogger): Logger {
  if (logger === noopLogger) return logger
  const guarded =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      void errorOf(() => logger[level](fields, message))
  return {
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
  }
}

/** Metrics that cannot break what they count. That they are broken is logged once. */
export function guardMetrics(
  metrics: WorkspaceMetrics = noopMetrics,
  logger: Logger = noopLogger,
): WorkspaceMetrics {
  if (metrics === noopMetrics) return metrics
  let isReported = false
  const attempt = (measure: () => void): void => {
    const error = errorOf(measure)
    if (error === undefined || isReported) return
    isReported = true
    logger.error({ err: error.cause }, 'metrics are broken')
  }
  return {
    incOpen: (...args) => attempt(() => metrics.incOpen(...args)),
    incOpenFailure: (...args) => attempt(() => metrics.incOpenFailure(...args)),
    observeOpenMs: (...args) => attempt(() => metrics.observeOpenMs(...args)),
    incEviction: (...args) => attempt(() => metrics.incEviction(...args)),
    incEvictionRetry: (...args) => attempt(() => metrics.incEvictionRetry(...args)),
    incTransientRetry: (...args) => attempt(() => metrics.incTransientRetry(...args)),
    incClose: (...args) => attempt(() => metrics.incClose(...args)),
    incCloseTimeout: (...args) => attempt(() => metrics.incCloseTimeout(...args)),
    incToolCall: (...args) => attempt(() => metrics.incToolCall(...args)),
    observeToolMs: (...args) => attempt(() => metrics.observeToolMs(...args)),
    incPolicyRejection: (...args) => attempt(() => metrics.incPolicyRejection(...args)),
    incSnapshot: (...args) => attempt(() => metrics.incSnapshot(...args)),
    observeSnapshotMs: (...args) => attempt(() => metrics.observeSnapshotMs(...args)),
    setState: (...args) => attempt(() => metrics.setState(...args)),
  }
}

function errorOf(observe: () => void): { readonly cause: unknown } | undefined {
  try {
    observe()
    return undefined
  } catch (cause) {
    return { cause }
  }
}

/** Aborted by Ctrl+C and SIGTERM; from the second on they are ignored, so that the first is finished. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => controller.abort())
  }
  return controller.signal
}

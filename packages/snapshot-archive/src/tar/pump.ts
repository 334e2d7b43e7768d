/**
 * As `pipeTo`, piece by piece: in workerd a pipe keeps something of every piece until it ends. What is
 * aborted, or fails, ends both streams.
 */
export async function pump(
  from: ReadableStream<Uint8Array>,
  to: WritableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const reader = from.getReader()
  const writer = to.getWriter()
  const stop = (reason: unknown): void => {
    for (const end of [reader.cancel(reason), writer.abort(reason)]) end.catch(() => undefined)
  }
  const onAbort = (): void => stop(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    signal.throwIfAborted()
    for (let part = await reader.read(); !part.done; part = await reader.read())
      await writer.write(part.value)
    await writer.close()
  } catch (error) {
    stop(error)
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

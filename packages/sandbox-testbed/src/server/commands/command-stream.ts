import type { Container } from '../container.ts'
import { followOutput } from '../processes/follow-output.ts'
import { namedEvent } from '../server-sent-events.ts'
import { type EventSink, eventStream } from './event-stream.ts'
import type { CommandOptions, SessionlessChild } from './sessionless-child.ts'

/** Events of a command without a session; a slow reader slows the command down. */
export function sessionlessStream(
  child: SessionlessChild,
  command: string,
  closed: AbortSignal,
): ReadableStream<Uint8Array> {
  const outputs = { stdout: child.stdout, stderr: child.stderr }
  const resume = (): void => {
    for (const output of Object.values(outputs)) output.resume()
  }
  // A reader that left does not end the command: its output is dropped.
  const { stream, sink } = eventStream(closed, { onRoom: resume, onCancel: resume })
  sink.write(namedEvent('start', { command, pid: child.pid }))
  for (const [type, output] of Object.entries(outputs)) {
    output.setEncoding('utf8')
    output.on('data', (data: string) => {
      const hasRoom = sink.write(namedEvent(type, { data }))
      if (!hasRoom) for (const other of Object.values(outputs)) other.pause()
    })
  }
  void closeAfter(child, sink)
  return stream
}

async function closeAfter(child: SessionlessChild, sink: EventSink): Promise<void> {
  const { exitCode, notice } = await child.ended
  if (notice !== '') sink.write(namedEvent('stderr', { data: notice }))
  sink.write(namedEvent('complete', { exitCode }))
  sink.end()
}

export interface SessionStreamOptions extends CommandOptions {
  readonly sessionId: string
  readonly closed: AbortSignal
}

/** Events of a command in the background of a session: `exit` in it and it never completes. */
export async function sessionStream(
  container: Container,
  command: string,
  options: SessionStreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const { closed, sessionId, timeoutMs } = options
  const { pid, files } = await container.sessions.use(sessionId).start(command, options)
  const abort = new AbortController()
  const { stream, sink } = eventStream(closed, { onCancel: () => abort.abort() })
  sink.write(namedEvent('start', { command, sessionId, pid }))
  const giveUp = (): void => {
    abort.abort()
    sink.write(namedEvent('error', { error: `command timeout after ${timeoutMs}ms` }))
    sink.end()
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs)
  const onOutput = (type: string, data: string): boolean => sink.write(namedEvent(type, { data }))
  const complete = async (): Promise<void> => {
    const exitCode = await followOutput(files, { signal: abort.signal, onOutput })
    clearTimeout(timer)
    if (exitCode === undefined) return
    sink.write(namedEvent('complete', { exitCode }))
    sink.end()
  }
  void complete()
  return stream
}

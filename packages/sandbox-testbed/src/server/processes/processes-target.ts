import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { CommandOptions } from '../commands/sessionless-child.ts'
import { eventStream } from '../commands/event-stream.ts'
import { NO_SESSION } from '../environment.ts'
import { OUTGOING_FRAME_BYTES } from '../limits.ts'
import { namedEvent, timestamp } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import { BackgroundProcess } from './background-process.ts'
import { followOutput } from './follow-output.ts'
import { ServiceTarget } from '../service-target.ts'

export interface StartOptions extends CommandOptions {
  readonly processId?: string
}

/** The session that processes started without one belong to. */
const PROCESS_SESSION = 'default'

/** `processes`: commands beside the session shells, all of them in one list. */
export class ProcessesTarget extends ServiceTarget {
  async startProcess(
    command: string,
    sessionId: string,
    options: StartOptions = {},
  ): Promise<object> {
    const id = options.processId ?? `proc_${randomUUID()}`
    const known = this.container.processes.get(id)
    if (known?.view().status === 'running') {
      throw new ServiceError('PROCESS_ERROR', `process ${id} runs already`, { processId: id })
    }
    const owner = sessionId === NO_SESSION ? PROCESS_SESSION : sessionId
    const session = this.container.sessions.use(owner)
    const started = await session.start(command, options)
    const process = new BackgroundProcess({ id, command, session, ...started })
    this.container.processes.set(id, process)
    if (options.timeoutMs !== undefined) {
      setTimeout(() => process.kill(), options.timeoutMs).unref()
    }
    return { success: true, processId: id, pid: process.pid, command, timestamp: timestamp() }
  }

  listProcesses(): object {
    const processes = [...this.container.processes.values()].map((process) => process.view())
    return { success: true, processes, timestamp: timestamp() }
  }

  async getProcess(id: string): Promise<object> {
    const process = await this.#settled(id)
    return { success: true, process: process.view(), timestamp: timestamp() }
  }

  killProcess(id: string): object {
    this.#find(id).kill()
    return { success: true, processId: id, signal: 'SIGKILL', timestamp: timestamp() }
  }

  killAllProcesses(): object {
    const running = [...this.container.processes.values()].filter(
      (process) => process.view().status === 'running',
    )
    for (const process of running) process.kill()
    const counts = { killedCount: running.length, cleanedCount: running.length }
    return { success: true, ...counts, timestamp: timestamp() }
  }

  async getProcessLogs(id: string): Promise<object> {
    const { files } = await this.#settled(id)
    const paths = [files.stdout, files.stderr]
    const total = paths.reduce((sum, path) => sum + sizeOf(path), 0)
    if (total > OUTGOING_FRAME_BYTES) this.connection.overflow()
    const isSmall = total <= OUTGOING_FRAME_BYTES
    const [stdout, stderr] = paths.map((path) => (isSmall ? textOf(path) : ''))
    return { success: true, processId: id, stdout, stderr, timestamp: timestamp() }
  }

  streamProcessLogs(id: string): ReadableStream<Uint8Array> {
    const process = this.#find(id)
    const abort = new AbortController()
    const { stream, sink } = eventStream(this.connection.closed, { onCancel: () => abort.abort() })
    const follow = async (): Promise<void> => {
      const exitCode = await followOutput(process.files, {
        signal: abort.signal,
        onOutput: (type, data) => sink.write(namedEvent(type, { data, processId: id })),
        killed: () => process.killed,
      })
      if (!sink.open) return
      sink.write(namedEvent('exit', { data: '', processId: id, exitCode }))
      sink.end()
    }
    void follow()
    return stream
  }

  /** The process; never, when it ended by `exit` and the server still waits for its code. */
  async #settled(id: string): Promise<BackgroundProcess> {
    const process = this.#find(id)
    return process.vanished ? new Promise<never>(() => {}) : process
  }

  #find(id: string): BackgroundProcess {
    const process = this.container.processes.get(id)
    if (process !== undefined) return process
    throw new ServiceError('PROCESS_NOT_FOUND', `process ${id} not found`, { processId: id })
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function textOf(path: string): string {
  return sizeOf(path) === 0 ? '' : readFileSync(path, 'utf8')
}

import type { Script, ScriptEnd, ScriptHost, ScriptRunner } from '../script/script.ts'
import { ScriptThread } from './script-thread.ts'

/** A thread that no command uses is ended after this time. */
const IDLE_MS = 60_000

/**
 * Runs the scripts of one workspace in threads of their own, so that no script holds the event loop
 * of the host, and each can be ended. One thread is kept for the next command; threads are never
 * shared between workspaces.
 */
export class ThreadRunner implements ScriptRunner {
  readonly #busy = new Set<ScriptThread>()
  #idle: ScriptThread | undefined
  #timer: NodeJS.Timeout | undefined

  async run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptEnd> {
    const thread = this.#take()
    this.#busy.add(thread)
    try {
      return await thread.run(script, host, signal)
    } finally {
      this.#busy.delete(thread)
      await this.#keep(thread, signal.aborted)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.all([this.#endIdle(), ...[...this.#busy].map((thread) => thread.end())])
  }

  #take(): ScriptThread {
    clearTimeout(this.#timer)
    const thread = this.#idle
    this.#idle = undefined
    return thread?.isAlive === true ? thread : new ScriptThread()
  }

  /** After an abort parts of the script may still wait for something: its thread goes with it. */
  async #keep(thread: ScriptThread, wasAborted: boolean): Promise<void> {
    if (wasAborted || !thread.isAlive || this.#idle !== undefined) return thread.end()
    this.#idle = thread
    this.#timer = setTimeout(() => void this.#endIdle(), IDLE_MS)
    this.#timer.unref()
  }

  async #endIdle(): Promise<void> {
    const thread = this.#idle
    this.#idle = undefined
    await thread?.end()
  }
}

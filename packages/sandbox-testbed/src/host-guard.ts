import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { workerdChildren } from './worker/workerd-children.ts'

/**
 * Reads process ids until the end of its input, which is the end of this process however it comes,
 * and then ends what would stay. Containers die by themselves; workerd and files do not.
 */
const GUARD = `pids=
while read -r pid; do pids="$pids $pid"; done
for pid in $pids; do grep -q workerd "/proc/$pid/cmdline" && kill -9 "$pid"; done
for try in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.2; done`

/** How often a starting workerd is searched for. */
const LOOK_MS = 20

/** Cleans up when this process is killed. */
export class HostGuard {
  readonly #guard: ChildProcess
  readonly #input: Writable
  readonly #guarded = new Set<string>()

  /** @param directory folder of the test bed. */
  constructor(directory: string) {
    const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', directory], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
    })
    this.#guard = guard
    this.#input = guard.stdin
    this.#guard.on('error', () => undefined)
    // A guard that is gone takes no more ids.
    this.#input.on('error', () => this.#input.destroy())
    this.#guard.unref()
    if ('unref' in this.#input && typeof this.#input.unref === 'function') this.#input.unref()
  }

  /** Waits for work that starts a workerd, which is guarded from its first moment. */
  async during<T>(starting: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.#guardWorkerd(), LOOK_MS)
    try {
      return await starting
    } finally {
      clearInterval(timer)
      this.#guardWorkerd()
    }
  }

  /** Ends the guard without a clean-up. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#guard
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const ended = once(this.#guard, 'exit')
    // Otherwise nothing might keep this process alive until it ended.
    this.#guard.ref()
    this.#guard.kill('SIGKILL')
    await ended
  }

  #guardWorkerd(): void {
    for (const pid of workerdChildren()) {
      if (this.#guarded.has(pid)) continue
      this.#guarded.add(pid)
      this.#input.write(`${pid}\n`)
    }
  }
}

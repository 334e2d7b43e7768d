import type { spawn as Spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from '../repository.ts'

export interface RunningServer {
  stop(): Promise<void>
}

const READY_WITHIN_MS = 120_000

/** Starts a printed command that serves until it is stopped, and waits until it says that it is ready. */
export async function startServer(
  spawn: typeof Spawn,
  { command, ready }: { readonly command: string; readonly ready: RegExp },
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningServer> {
  const child = spawn('bash', ['-c', command], {
    cwd: root,
    detached: true,
    stdio: 'pipe',
    env: { ...process.env, ...environment },
  })
  const stop = async (): Promise<void> => {
    if (child.pid === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGINT')
    const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), 15_000)
    await ended
    clearTimeout(timer)
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  const timer = setTimeout(() => reject(new Error(`is not ready\n${output}`)), READY_WITHIN_MS)
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (ready.test(output)) resolve()
    })
  }
  child.once('exit', (code) => reject(new Error(`exits with ${code}\n${output}`)))
  try {
    await promise
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return { stop }
}

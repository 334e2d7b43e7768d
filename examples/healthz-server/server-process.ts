import { spawn } from 'node:child_process'
import { OutputLines } from './output-lines.ts'
import { join } from 'node:path'

/** The server in a process of its own. */
export interface ServerProcess {
  readonly url: string
  /** Waits for a line of its output that contains the text. */
  says(text: string): Promise<string>
  signal(name: NodeJS.Signals): void
  /** How it ended. */
  readonly exit: Promise<ServerExit>
}

export interface ServerExit {
  readonly code: number | null
  readonly signal: string | null
}

/**
 * Starts the server as `pnpm start` does and waits until it listens.
 * @throws {Error} with its output when it ends before that.
 */
export async function startServerProcess(
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const program = join(import.meta.dirname, 'server.ts')
  const args = ['--conditions=@helix-agents/source', program]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = new OutputLines([child.stdout, child.stderr])
  const exit = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const failed = exit.then(() => Promise.reject(new Error(`it has ended:\n${output.text()}`)))
  failed.catch(() => {})
  const says = (text: string): Promise<string> => Promise.race([output.says(text), failed])
  const port = /"port":(?<port>\d+)/.exec(await says('"listening"'))?.groups?.port
  return { url: `http://127.0.0.1:${port}`, says, signal: (name) => void child.kill(name), exit }
}

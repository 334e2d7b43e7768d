import { decodeBase64 } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import type {
  DriverProcess,
  DriverProcesses,
  DriverProcessOutput,
  StartOptions,
} from '../processes.ts'
import { decodeText, failureOf } from '../script/file-reply.ts'
import {
  killProcessScript,
  listProcessesScript,
  type ProcessNames,
  processOutputScript,
  startScript,
} from '../script/process-scripts.ts'
import { parseReply, type ScriptReply } from '../script/reply.ts'
import type { ContainerLink } from './container-link.ts'
import { runOfAnyLength } from './long-script.ts'

const DEADLINE_MS = 30_000
const ID = /^[0-9a-z]+$/

/** Processes that outlive the call that started them, each one script away. */
export class ScriptProcesses implements DriverProcesses {
  readonly #link: ContainerLink
  readonly #env: Readonly<Record<string, string>>

  /** @param env Of every process. */
  constructor(link: ContainerLink, env: Readonly<Record<string, string>>) {
    this.#link = link
    this.#env = env
  }

  async start(argv: readonly string[], options: StartOptions): Promise<DriverProcess> {
    const { settings } = this.#link
    const env = { ...this.#env, ...options.env }
    const title = options.title ?? argv.join(' ')
    const request = { id: this.#link.createNonce(), argv, title, cwd: options.cwd, env }
    const reply = await this.#ask((names) => startScript(settings, names, request), false)
    const [started] = readProcesses(reply.payload.split('\n'))
    if (started !== undefined) return started
    throw new DriverError('failed', 'the process could not be started', { admitted: 'unknown' })
  }

  async list(): Promise<readonly DriverProcess[]> {
    const { settings } = this.#link
    const reply = await this.#ask((names) => listProcessesScript(settings, names), true)
    const processes = readProcesses(reply.payload.split('\n'))
    return processes.toSorted((a, b) => a.startedAtMs - b.startedAtMs)
  }

  async output(
    id: string,
    from: { readonly stdoutOffset: number; readonly stderrOffset: number },
  ): Promise<DriverProcessOutput> {
    assertId(id)
    const { settings } = this.#link
    const script = (names: ProcessNames): string =>
      processOutputScript(settings, names, { id, ...from })
    const lines = (await this.#ask(script, true)).payload.split('\n')
    const [, out = '', err = ''] = lines
    const [process] = readProcesses(lines)
    if (process === undefined) throw missing()
    const [stdout, stderr] = [decodeBase64(out), decodeBase64(err)]
    return {
      stdout,
      stderr,
      nextStdoutOffset: from.stdoutOffset + stdout.length,
      nextStderrOffset: from.stderrOffset + stderr.length,
      process,
    }
  }

  async kill(id: string): Promise<void> {
    assertId(id)
    await this.#ask((names) => killProcessScript(this.#link.settings, names, { id }), true)
  }

  async #ask(script: (names: ProcessNames) => string, isRepeatable: boolean): Promise<ScriptReply> {
    const reply = await askProcesses(this.#link, script, isRepeatable)
    if (reply.status === 'missing') throw missing()
    return reply
  }
}

/**
 * Runs a script on supervised processes and gives its answer, also `missing`.
 * @throws {DriverError} when there is another container, no directory to start in, or no room.
 */
export async function askProcesses(
  link: ContainerLink,
  script: (names: ProcessNames) => string,
  isRepeatable: boolean,
): Promise<ScriptReply> {
  const nonce = link.createNonce()
  const text = script({ nonce, epoch: link.epoch })
  const call = { deadlineMs: DEADLINE_MS, isRepeatable }
  const { stdout, stderr } = await runOfAnyLength(link, `s-${nonce}`, text, call)
  const reply = parseReply(stdout, nonce)
  if (reply.status === 'cold' || reply.status === 'directory') throw failureOf(reply, stderr)
  if (reply.status !== 'scratch') return reply
  throw new DriverError('storage-full', 'the container has no room for another process', {
    admitted: 'no',
  })
}

function readProcesses(lines: readonly string[]): readonly DriverProcess[] {
  return lines.flatMap((line) => {
    const [id, pid, startedAt = '', exitCode = '-', command = ''] = line.split(' ')
    if (!id || pid === undefined) return []
    return [
      {
        id,
        pid: Number(pid),
        command: decodeText(command),
        startedAtMs: Math.floor(Number(startedAt.replace(',', '.')) * 1000),
        ...(exitCode === '-'
          ? { state: 'running' as const }
          : { state: 'exited' as const, exitCode: Number(exitCode) }),
      },
    ]
  })
}

function assertId(id: string): void {
  if (!ID.test(id)) throw missing()
}

function missing(): DriverError {
  return new DriverError('process-missing', 'no process has this id', { admitted: 'yes' })
}

import { ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Duplex } from 'node:stream'
import { constants } from 'node:os'
import { ToolInputError, WorkspaceFailedError } from '@helix-agents/core'
import { errnoOf } from '../file-system/map-error.ts'
import { withoutInherited } from './inherited-descriptors.ts'
import type { Launch } from './launcher.ts'
import { BEGUN } from './namespace/namespace-init.ts'
import { OutputReader, type OutputSink } from './output/output-reader.ts'
import { closePipe, type Pipe } from './output/pipe-pool.ts'

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number
  /** Set when the program could not be started: what a shell would say. */
  readonly complaint?: string
  /** Set when its namespace could not be made: it never began. For the operator. */
  readonly failure?: string
}

/** A started process and what reads its outputs. */
export interface StartedProcess {
  /** Undefined when the program could not be started. */
  readonly pid: number | undefined
  readonly ended: Promise<ProcessEnd>
  readonly readers: readonly [OutputReader, OutputReader]
  /** Host paths of its pipes. */
  readonly pipePaths: readonly string[]
  /** The other end of its descriptor `CHANNEL`, where one was asked for. */
  readonly channel?: Duplex
}

/** Descriptor of a program that is talked to beside its outputs. */
const CHANNEL = 4

/**
 * Starts a program as leader of its own session, without input, its outputs read as they come.
 * @param pipes For its outputs; closed in any case.
 * @param launch Called last, so that the directory it pins is held for a moment only.
 * @param withChannel Gives it a channel.
 */
export function startProcess(
  [out, err]: readonly [Pipe, Pipe],
  launch: () => Launch,
  sinks: readonly [OutputSink, OutputSink],
  withChannel = false,
): StartedProcess {
  let child: Child
  try {
    child = startChild(launch(), [out.writeFd, err.writeFd], withChannel)
  } catch (error) {
    closePipe(out)
    closePipe(err)
    throw error
  }
  closeSync(out.writeFd)
  closeSync(err.writeFd)
  const readers = [new OutputReader(out.readFd, sinks[0]), new OutputReader(err.readFd, sinks[1])]
  const [stdout, stderr] = readers
  if (stdout === undefined || stderr === undefined) throw new TypeError('a process has two outputs')
  return {
    ...child,
    readers: [stdout, stderr],
    pipePaths: [out.path, err.path],
  }
}

type Child = Pick<StartedProcess, 'pid' | 'ended' | 'channel'>
type Outputs = readonly [stdout: number, stderr: number]

function startChild(launch: Launch, outputs: Outputs, withChannel: boolean): Child {
  const { name, args, obstacle, isNamespaced } = launch
  if (obstacle !== undefined) {
    if (name === '' || [name, ...args].some((word) => word.includes('\0'))) throw invalidWords()
    return { pid: undefined, ended: Promise.resolve(OBSTACLES[obstacle](name)) }
  }
  const child = spawnChild(launch, outputs, withChannel)
  if (!(child instanceof ChildProcess)) return { pid: undefined, ended: Promise.resolve(child) }
  const channel = child.stdio[CHANNEL]
  return {
    ...(channel instanceof Duplex && { channel }),
    pid: child.pid,
    ended: isNamespaced ? endOfNamespaced(child, name) : endOf(child, name),
  }
}

/** Node throws some errors of the system, such as `E2BIG`, and emits others. */
function spawnChild(
  launch: Launch,
  [stdout, stderr]: Outputs,
  withChannel: boolean,
): ChildProcess | ProcessEnd {
  const { file, args, name, cwd, env, isNamespaced } = launch
  const own = isNamespaced
    ? (['ignore', stdout, 'pipe', stderr] as const)
    : (['ignore', stdout, stderr] as const)
  const unused = isNamespaced ? [] : (['ignore'] as const)
  const all = withChannel ? ([...own, ...unused, 'pipe'] as const) : own
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: withoutInherited(all) })
  } catch (cause) {
    if (errnoOf(cause) === 'ERR_INVALID_ARG_VALUE') throw invalidWords(cause)
    const end = explain(cause, name)
    if (end !== undefined) return end
    throw startFailure(cause)
  }
}

function startFailure(cause: unknown): WorkspaceFailedError {
  return new WorkspaceFailedError('provider-failed', 'the command could not be started', {
    cause,
    transient: TRANSIENT.has(errnoOf(cause) ?? ''),
  })
}

const CANNOT_START = 126
const KILLED = 128 + constants.signals.SIGKILL
const TRANSIENT: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])

/**
 * The end of a child, however it came to it.
 * @throws {WorkspaceFailedError} `provider-failed` when the host could not start it.
 */
export function endOf(child: ChildProcess, name: string): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      resolve({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) })
    })
    child.once('error', (error) => {
      const end = explain(error, name)
      if (end !== undefined) resolve(end)
      else reject(startFailure(error))
    })
  })
}

const SAID_BYTES = 4096

/** The same for a command whose first process reports its start on the parent's error output. */
async function endOfNamespaced(child: ChildProcess, name: string): Promise<ProcessEnd> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    said = (said + piece).slice(0, SAID_BYTES)
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const end = await endOf(child, name)
  if (end.complaint !== undefined) return end
  await closed
  if (!said.startsWith(BEGUN)) return { exitCode: CANNOT_START, failure: said || 'it ended' }
  // Of the end of its first process by a signal some versions of unshare complain.
  return said === BEGUN ? end : { exitCode: KILLED }
}

const notFound = (name: string): ProcessEnd => ({
  exitCode: 127,
  complaint: `${name}: command not found\n`,
})
const notStarted =
  (why: string) =>
  (name: string): ProcessEnd => ({ exitCode: CANNOT_START, complaint: `${name}: ${why}\n` })
const denied = notStarted('Permission denied')

const OBSTACLES = { ENOENT: notFound, EACCES: denied } as const
const EXPLAINED: ReadonlyMap<string, (name: string) => ProcessEnd> = new Map(
  Object.entries({
    ...OBSTACLES,
    E2BIG: notStarted('Argument list too long'),
    ENOTDIR: denied,
    EPERM: denied,
    ENOEXEC: notStarted('cannot execute: required file not found'),
  }),
)

/** The exit code and the words of a shell for a program that cannot be started. */
function explain(error: unknown, name: string): ProcessEnd | undefined {
  return EXPLAINED.get(errnoOf(error) ?? '')?.(name)
}

function invalidWords(cause?: unknown): ToolInputError {
  return new ToolInputError('invalid-input', 'the command is empty or holds a NUL', { cause })
}

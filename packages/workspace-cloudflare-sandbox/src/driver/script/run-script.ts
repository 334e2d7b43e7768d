import { assign, type ScriptValue, sources } from './compose.ts'
import { sayFunction } from './reply.ts'
import { type ContainerSettings, MARKER_VARIABLE } from './settings.ts'
import { type ScriptName } from './scripts.generated.ts'

/** Milliseconds between asking a command to end and killing it. */
export const KILL_GRACE_MS = 1000

/** Bytes of live output that may wait for the caller before the command is paused. */
const LIVE_BACKLOG_BYTES = 4 * 1024 * 1024

export interface RunRequest {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly maxOutputBytes: number
  readonly spillDirectory: string
  /** The outputs are read while the command runs. */
  readonly isLive: boolean
  /** Most bytes of what the command writes to descriptor 3. Absent: there is no such descriptor. */
  readonly maxChannelBytes?: number
}

/** Names of one call in the container. */
export interface RunNames {
  /** Proves the answer. Not in the environment of the command. */
  readonly nonce: string
  /** Marks the processes of the command, in their environment. */
  readonly mark: string
  /** Files of the call start with it; used again by a later call. */
  readonly slot: string
  /** Empty: any container will do. */
  readonly epoch: string
}

/**
 * The script of one command: it goes to the directory, runs the command in a group of its own
 * with its outputs in files, waits, ends what is left, and answers with head and tail.
 */
export function runScript(
  settings: ContainerSettings,
  names: RunNames,
  request: RunRequest,
): string {
  const { argv, cwd, env, timeoutMs } = request
  const values = {
    hx_want: names.epoch,
    ...answerOf(request),
    hx_cwd: cwd,
    hx_root: settings.root,
    hx_limit: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs * 1000),
    hx_backlog: LIVE_BACKLOG_BYTES,
    hx_tree: sources('tree'),
    hx_argv: argv,
    hx_variables: variablesOf({ ...env, [MARKER_VARIABLE]: names.mark }),
  }
  const parts = ['epoch', 'go-to', 'run-files', 'capture', 'run-answer', 'leftover', 'run'] as const
  return script(settings, names, values, parts)
}

/**
 * The script for a command whose own script was lost: ends what is left and answers in its place.
 * @param exitCode What is known about its end.
 */
export function collectScript(
  settings: ContainerSettings,
  names: RunNames,
  request: RunRequest & { readonly exitCode: number },
): string {
  const values = { hx_want: names.epoch, ...answerOf(request), r: request.exitCode }
  const parts = ['epoch', 'run-files', 'capture', 'run-answer', 'tree', 'run-collect'] as const
  return script(settings, names, values, parts)
}

/** The script that ends a running command from outside, in whatever container it is. */
export function stopScript(settings: ContainerSettings, names: RunNames): string {
  return script(settings, names, { hx_channel: undefined }, ['run-files', 'tree', 'run-stop'])
}

function answerOf({ maxOutputBytes, spillDirectory, isLive, maxChannelBytes }: RunRequest) {
  return {
    hx_most: maxOutputBytes,
    hx_spill: spillDirectory,
    hx_live: isLive,
    hx_channel: maxChannelBytes,
  }
}

function script(
  { scratch }: ContainerSettings,
  { nonce, mark, slot }: RunNames,
  values: Readonly<Record<string, ScriptValue>>,
  names: readonly ScriptName[],
): string {
  return `exec 2>/dev/null
t0=$EPOCHREALTIME
${assign({ n: mark, d: scratch, hx_slot: slot, hx_grace: KILL_GRACE_MS, ...values })}
${sayFunction(nonce)}
${sources(...names)}`
}

const IDENTIFIER = /^[A-Za-z_]\w*$/

/** `NAME=VALUE` of each. @throws {TypeError} for a name that no shell can hold. */
export function variablesOf(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).map(([name, value]) => {
    if (!IDENTIFIER.test(name)) throw new TypeError(`${name} is no name of a variable`)
    return `${name}=${value}`
  })
}

import { assign, type ScriptValue, sources } from './compose.ts'
import { sayFunction } from './reply.ts'
import { KILL_GRACE_MS, variablesOf } from './run-script.ts'
import type { ContainerSettings } from './settings.ts'
import { type ScriptName, SCRIPTS } from './scripts.generated.ts'

/** Most bytes of each output that one call returns. */
const PIECE_BYTES = 1024 * 1024

export interface ProcessNames {
  readonly nonce: string
  readonly epoch: string
}

/** What a supervised process is: one that the caller started, or the interpreter of a context. */
export type ProcessKind = 'process' | 'context'

const HOMES: Readonly<Record<ProcessKind, string>> = { process: 'p', context: 'c' }

/** Name of the directory of a process, below the scratch directory. */
export function homeOf(kind: ProcessKind, id: string): string {
  return `${HOMES[kind]}-${id}`
}

export interface StartRequest {
  readonly id: string
  /** Default `process`. A context has pipes for its requests and answers. */
  readonly kind?: ProcessKind
  readonly argv: readonly string[]
  readonly title: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** The script that starts a process which outlives the call. */
export function startScript(
  settings: ContainerSettings,
  names: ProcessNames,
  { id, kind = 'process', argv, title, cwd, env }: StartRequest,
): string {
  const values = {
    q: `${settings.scratch}/${homeOf(kind, id)}`,
    hx_cwd: cwd,
    hx_root: settings.root,
    hx_program: kind === 'context' ? argv[0] : undefined,
    hx_title: title,
    hx_supervisor: SCRIPTS.supervisor,
    hx_argv: argv,
    hx_variables: variablesOf(env),
  }
  return script(settings, names, values, ['go-to', 'describe', 'process-start'])
}

/** The script that describes all processes. */
export function listProcessesScript(settings: ContainerSettings, names: ProcessNames): string {
  return script(settings, names, {}, ['describe', 'process-list'])
}

/** The script that describes a process and returns the next piece of its outputs. */
export function processOutputScript(
  settings: ContainerSettings,
  names: ProcessNames,
  from: { readonly id: string; readonly stdoutOffset: number; readonly stderrOffset: number },
): string {
  const values = {
    q: `${settings.scratch}/${homeOf('process', from.id)}`,
    out: from.stdoutOffset,
    err: from.stderrOffset,
    piece: PIECE_BYTES,
  }
  return script(settings, names, values, ['describe', 'piece', 'process-output'])
}

/** The script that ends a process. */
export function killProcessScript(
  settings: ContainerSettings,
  names: ProcessNames,
  { id, kind = 'process' }: Pick<StartRequest, 'id' | 'kind'>,
): string {
  const values = {
    q: `${settings.scratch}/${homeOf(kind, id)}`,
    n: id,
    grace: KILL_GRACE_MS,
    context: kind === 'context',
    caller: names.nonce,
    LC_ALL: 'C',
  }
  return script(settings, names, values, ['tree', 'process-kill'])
}

function script(
  { scratch }: ContainerSettings,
  { nonce, epoch }: ProcessNames,
  values: Readonly<Record<string, ScriptValue>>,
  names: readonly ScriptName[],
): string {
  return `exec 2>/dev/null
${assign({ d: scratch, hx_want: epoch, ...values })}
${sayFunction(nonce)}
${sources('epoch', ...names)}`
}

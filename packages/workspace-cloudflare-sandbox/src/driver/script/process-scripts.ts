import { quoteWord } from '@helix-agents/core/provider'
import { READ_EPOCH } from './read-epoch.ts'
import { sayFunction } from './reply.ts'
import { exportAll, goTo, KILL_GRACE_MS } from './run-script.ts'
import { type ContainerSettings, MARKER_VARIABLE } from './settings.ts'
import { TREE_FUNCTIONS } from './tree.ts'

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

/**
 * The script that starts a process which outlives the call. A supervisor in a session of its
 * own keeps its outputs and exit code in a directory that bears its id.
 */
export function startScript(
  settings: ContainerSettings,
  names: ProcessNames,
  { id, kind = 'process', argv, title, cwd, env }: StartRequest,
): string {
  return `${opening(settings, names)}
${goTo(settings.root, cwd)}
q=$d/${homeOf(kind, id)}
${kind === 'context' ? `type -P ${quoteWord(argv[0] ?? '')} >/dev/null || say absent ${argv[0]}` : ''}
mkdir -p -- "$q" || say scratch
${kind === 'context' ? 'mkfifo -- "$q/in" "$q/done" || say scratch' : ''}
printf %s ${quoteWord(title)} >"$q/command"
(
set -- "$(type -P setsid)" "$BASH" "$(type -P mv)" "$q"
unset OLDPWD
${exportAll(env)}
exec -- "$1" "$2" --noprofile --norc -c ${quoteWord(SUPERVISOR)} "$4" "$3" ${argv.map(quoteWord).join(' ')}
) </dev/null >/dev/null 2>&1 &
for ((i = 0; i < 1000; i++)); do
  read -r p <"$q/pid" && break
  sleep 0.005
done
${kind === 'context' ? AWAIT_INTERPRETER : ''}
${DESCRIBE}
describe "$q"
say processes
`
}

// It has to be where it is to run before somebody takes that away.
const AWAIT_INTERPRETER = `exec {done}<>"$q/done"
for ((i = 0; i < 3000; i++)); do
  read -r -t 0.01 ready <&"$done"
  [[ $ready ]] && break
  [[ -e $q/exit || ! -e /proc/\${p%% *} ]] && break
done
[[ -f $q/absent ]] && { read -r -n 64 program <"$q/absent"; rm -rf -- "$q"; say absent "$program"; }`

// One that was stopped before it ended is asked for its end once more.
// The mark is not in its own environment: whoever ends the process leaves it alone.
// Nor does it rely on what is: the caller may set any variable.
const SUPERVISOR = `export ${MARKER_VARIABLE}=\${0##*-}; trap : TERM HUP INT; set -m
exec -- "\${@:2}" </dev/null >"$0/out" 2>"$0/err" &
set -- "$1" "$!"
echo "$2 $EPOCHREALTIME" >"$0/pid.new"; "$1" -f -- "$0/pid.new" "$0/pid"
while wait "$2"; set -- "$1" "$2" "$?"; kill -0 "$2" 2>/dev/null; do :; done
wait "$2"; set -- "$1" "$2" "$?"
echo "$3" >"$0/exit.new"; "$1" -f -- "$0/exit.new" "$0/exit"`

/** Prints `ID PID STARTED EXIT COMMAND`, the command in base64. */
const DESCRIBE = `describe() {
  local p=0 at=0 r=-
  [[ \${1##*-} =~ ^[0-9a-z]+$ && -f $1/pid && -f $1/command ]] || return
  read -r -n 64 p at <"$1/pid" || return
  [[ $p =~ ^[0-9]+$ && $at =~ ^[0-9]+[.,][0-9]+$ ]] || return
  if [[ -f $1/exit ]]; then read -r -n 8 r <"$1/exit"; [[ $r =~ ^[0-9]+$ ]] || r=137
  else [[ -e /proc/$p ]] || { [[ -e $1/exit ]] || r=137; }; fi
  printf '%s %s %s %s %s\\n' "\${1##*-}" "$p" "$at" "$r" "$(head -c 100000 -- "$1/command" | base64 -w0)"
}`

export function listProcessesScript(settings: ContainerSettings, names: ProcessNames): string {
  return `${opening(settings, names)}
${DESCRIBE}
for q in "$d"/p-*; do [[ -d $q ]] && describe "$q"; done
say processes
`
}

export function processOutputScript(
  settings: ContainerSettings,
  names: ProcessNames,
  from: { readonly id: string; readonly stdoutOffset: number; readonly stderrOffset: number },
): string {
  return `${opening(settings, names)}
${DESCRIBE}
q=$d/p-${from.id}
[[ -f $q/pid && -f $q/out && -f $q/err ]] || say missing
describe "$q"
tail -c +${from.stdoutOffset + 1} -- "$q/out" | head -c ${PIECE_BYTES} | base64 -w0; echo
tail -c +${from.stderrOffset + 1} -- "$q/err" | head -c ${PIECE_BYTES} | base64 -w0
say output
`
}

export function killProcessScript(
  settings: ContainerSettings,
  names: ProcessNames,
  { id, kind = 'process' }: Pick<StartRequest, 'id' | 'kind'>,
): string {
  return `${opening(settings, names)}
q=$d/${homeOf(kind, id)} n=${id}
${kind === 'context' ? alreadyGone(id, names.nonce) : ''}
[[ -f $q/pid ]] && read -r -n 64 p _ <"$q/pid" || say missing
[[ $p =~ ^[0-9]+$ ]] || say missing
o=$q/out e=$q/err
LC_ALL=C
${TREE_FUNCTIONS}
stop ${KILL_GRACE_MS}
for ((i = 0; i < 100; i++)); do [[ -e $q/exit ]] && break; sleep 0.01; done
${kind === 'context' ? `echo ${names.nonce} >"$d/s-gone-${id}"; rm -rf -- "$q"` : ''}
say killed
`
}

/** The same call, made again as its answer was lost, finds nothing any more, and has done its work. */
function alreadyGone(id: string, nonce: string): string {
  return `[[ -f $d/s-gone-${id} ]] && read -r -n 64 by <"$d/s-gone-${id}" && [[ $by == ${nonce} ]] && say killed`
}

function opening(settings: ContainerSettings, { nonce, epoch }: ProcessNames): string {
  return `exec 2>/dev/null
d=${quoteWord(settings.scratch)}
${READ_EPOCH}
${sayFunction(nonce)}
${epoch === '' ? '' : `[[ $epoch == ${epoch} ]] || say cold "$epoch"`}`
}

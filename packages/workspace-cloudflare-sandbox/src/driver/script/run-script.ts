import { quoteWord } from '@helix-agents/core/provider'
import { CAPTURE_FUNCTION } from './capture.ts'
import { READ_EPOCH } from './read-epoch.ts'
import { sayFunction } from './reply.ts'
import { type ContainerSettings, MARKER_VARIABLE } from './settings.ts'
import { LEFTOVER_FUNCTION, TREE_FUNCTIONS } from './tree.ts'

/** Milliseconds between asking a command to end and killing it. */
export const KILL_GRACE_MS = 1000

/** Bytes of live output that may wait for the caller before the command is paused. */
const LIVE_BACKLOG_BYTES = 4 * 1024 * 1024

/** A pipe to which nobody writes: waiting for it is a pause without a process. */
const IDLE_PIPE = 'idle'

export interface RunRequest {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly maxOutputBytes: number
  readonly spillDirectory: string
  /** Somebody reads the outputs while the command runs. */
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
 *
 * What the fast path needs is built into bash, as each further process costs about as much as
 * a small command itself.
 */
export function runScript(
  settings: ContainerSettings,
  names: RunNames,
  request: RunRequest,
): string {
  return `${opening(settings, names)}
${CHECK_EPOCH(names.epoch)}
${goTo(settings.root, request.cwd)}
${openOutputs(hasChannel(request))}
${openReaders(hasChannel(request))}
trap : TERM HUP INT QUIT USR1 USR2 ALRM PIPE
set -m
(
exec {idle}<&- {or}<&- {er}<&- ${hasChannel(request) ? '{vr}<&-' : ''}
unset OLDPWD n k o e v f t0 epoch idle or er vr
${exportAll({ ...request.env, [MARKER_VARIABLE]: names.mark })}
exec -- ${request.argv.map(quoteWord).join(' ')} </dev/null >"$1" 2>"$2"${hasChannel(request) ? ' 3>"$3"' : ''}
) &
p=$!
set +m
echo "$p" >"$k.p"
LC_ALL=C
t=0
${TREE_ON_DEMAND}
[[ -e $k.x ]] && tree stop ${KILL_GRACE_MS}
${request.isLive ? waitLive(request.timeoutMs) : waitPlain(request.timeoutMs)}
((t)) && tree stop ${KILL_GRACE_MS}
wait "$p"; r=$?
${LEFTOVER_FUNCTION}
leftover && tree stop 0
${request.isLive ? ': >"$k.d"' : ''}
${answer(request)}
`
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
  return `${opening(settings, names)}
${CHECK_EPOCH(names.epoch)}
[[ -f $k.p ]] && read -r -n 32 p <"$k.p" || say lost
r=${request.exitCode} t=0 w=0
${openReaders(hasChannel(request))}
LC_ALL=C
${TREE_FUNCTIONS}
stop ${KILL_GRACE_MS}
${answer(request)}
`
}

/** The script that ends a running command from outside. */
export function stopScript(settings: ContainerSettings, names: RunNames): string {
  return `${opening(settings, names)}
LC_ALL=C
: >"$k.x" || say lost
[[ -f $k.p ]] && read -r -n 32 p <"$k.p" || say early
${TREE_FUNCTIONS}
stop ${KILL_GRACE_MS}
say stopped
`
}

function opening(settings: ContainerSettings, { nonce, mark, slot }: RunNames): string {
  return `exec 2>/dev/null
t0=$EPOCHREALTIME
n=${mark}
d=${quoteWord(settings.scratch)}
k=$d/${slot} o=$d/${slot}.o e=$d/${slot}.e v=$d/${slot}.v
${READ_EPOCH}
${sayFunction(nonce)}`
}

const CHECK_EPOCH = (epoch: string): string =>
  epoch === '' ? '' : `[[ $epoch == ${epoch} ]] || say cold "$epoch"`

/** Goes to a directory; makes the one of the workspace again when nothing is in its place. */
export function goTo(root: string, cwd: string): string {
  const [quotedRoot, quotedCwd] = [quoteWord(root), quoteWord(cwd)]
  return `state() { if [[ -d $1 ]]; then echo directory; elif [[ -e $1 ]]; then echo file
elif [[ -L $1 ]]; then echo link; else echo missing; fi; }
cd -- ${quotedCwd} || {
[[ -e ${quotedRoot} || -L ${quotedRoot} ]] || mkdir -p -- ${quotedRoot}
cd -- ${quotedCwd} || say directory "$(state ${quotedCwd})" "$(state ${quotedRoot})"
}`
}

// What a command has put in the place of a file of ours would hold up the next one.
function openOutputs(isChannelled: boolean): string {
  const files = isChannelled ? '"$o" "$e" "$v"' : '"$o" "$e"'
  const open = isChannelled ? ': >"$o" >"$e" >"$v"' : ': >"$o" >"$e"'
  return `set -- ${files}
for f in ${files} "$k.p" "$k.a"; do
  [[ -e $f || -L $f ]] && { [[ -f $f && ! -L $f ]] || rm -rf -- "$f"; }
done
${open} || { mkdir -p -- "$d"; ${open} || say scratch; }
[[ -p $d/${IDLE_PIPE} ]] || mkfifo -- "$d/${IDLE_PIPE}"; exec {idle}<>"$d/${IDLE_PIPE}" || say scratch`
}

/** A command may remove its own outputs: what it prints is still there for who has them open. */
function openReaders(isChannelled: boolean): string {
  return `exec {or}<"$o"; exec {er}<"$e"; ${isChannelled ? 'exec {vr}<"$v"' : ''}`
}

function hasChannel({ maxChannelBytes }: RunRequest): boolean {
  return maxChannelBytes !== undefined
}

/** Parsed when something is left to end, which is seldom. */
const TREE_ON_DEMAND = `tree() { eval "$functions"; "$@"; }
functions=${quoteWord(TREE_FUNCTIONS)}`

/**
 * Bash tells of an ended child only to \`wait\`, which knows no time limit. So this looks again
 * and again, after pauses that start no process: short ones at first, a sixteenth of the time
 * that has passed later.
 */
function waitPlain(timeoutMs: number | undefined): string {
  if (timeoutMs === undefined) return 'while wait "$p"; kill -0 "$p"; do :; done'
  return `now=\${EPOCHREALTIME/[.,]/}; start=$now
while kill -0 "$p"; do
  ((pause = (now - start) / 16, pause = pause < 500 ? 500 : pause > 20000 ? 20000 : pause))
  printf -v pause 0.%06d "$pause"
  read -r -t "$pause" <&"$idle"
  now=\${EPOCHREALTIME/[.,]/}
  ((now - start >= ${Math.ceil(timeoutMs * 1000)})) && { kill -0 "$p" && t=1; break; }
done`
}

const LIVE_PAUSE = '0.01'

function waitLive(timeoutMs: number | undefined): string {
  const deadline =
    timeoutMs === undefined
      ? ''
      : `((now - start >= ${Math.ceil(timeoutMs * 1000)})) && { kill -0 "$p" && t=1; break; }`
  return `start=\${EPOCHREALTIME/[.,]/} paused=0 turn=0
while kill -0 "$p"; do
  read -r -t ${LIVE_PAUSE} <&"$idle"
  now=\${EPOCHREALTIME/[.,]/}; ${deadline}
  ((++turn % 5)) && continue
  size=0; for i in $(stat -c %s -- "$o" "$e"); do ((size += i)); done
  acked=0; [[ -f $k.a ]] && read -r -n 32 acked <"$k.a"
  [[ $acked =~ ^[0-9]+$ ]] || acked=0
  if ((size - acked > ${LIVE_BACKLOG_BYTES})); then
    ((paused)) || kill -STOP -- "-$p"
    paused=1
  elif ((paused)); then kill -CONT -- "-$p"; paused=0; fi
done`
}

function answer({ maxOutputBytes, spillDirectory, isLive, maxChannelBytes }: RunRequest): string {
  const whole = `${quoteWord(spillDirectory)}/"\${k##*/}-$n"`
  return `${CAPTURE_FUNCTION}
emit "$o" "$or" ${maxOutputBytes} ${whole}.stdout; notes=$note
emit "$e" "$er" ${maxOutputBytes} ${whole}.stderr; notes="$notes $note"
${maxChannelBytes === undefined ? '' : `emit "$v" "$vr" ${maxChannelBytes} ''; notes="$notes $note"`}
${isLive ? 'rm -f -- "$o" "$e" "$v" "$k.a" "$k.p"' : ''}
t1=$EPOCHREALTIME
say ended "$r" "$t" "$(( (\${t1/[.,]/} - \${t0/[.,]/}) / 1000 ))" "\${epoch:--}" "$notes"`
}

const IDENTIFIER = /^[A-Za-z_]\w*$/

/** @throws {TypeError} for a name that no shell can hold. */
export function exportAll(env: Readonly<Record<string, string>>): string {
  const words = Object.entries(env).map(([name, value]) => {
    if (!IDENTIFIER.test(name)) throw new TypeError(`${name} is no name of a variable`)
    return `${name}=${quoteWord(value)}`
  })
  return words.length === 0 ? '' : `export ${words.join(' ')}`
}

import { JAVASCRIPT_PROGRAM } from './javascript-program.ts'
import { PYTHON_PROGRAM } from './python-program.ts'

/** Code on its way: itself, or the file that holds it, which is read once and removed. */
export type CodeSource = readonly [kind: 'text' | 'file', value: string]

/** How the programs of a language are started. */
export interface Language {
  /** Runs code in a process of its own. */
  once(code: CodeSource): readonly string[]
  /** Runs what comes through the pipes of a directory, at first in `cwd`. */
  serve(home: string, cwd: string): readonly string[]
}

const NODE = ['node', '--no-warnings', '--input-type=commonjs', '-e', JAVASCRIPT_PROGRAM]
const PYTHON = ['python3', '-c', PYTHON_PROGRAM]

function onNode(language: string): Language {
  return {
    once: (code) => [...NODE, 'once', language, ...code],
    serve: (home, cwd) => [...NODE, 'serve', language, home, cwd],
  }
}

/** By the name of the language. */
export const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  [
    'python',
    {
      once: (code: CodeSource) => [...PYTHON, 'once', ...code],
      serve: (home: string, cwd: string) => [...PYTHON, 'serve', home, cwd],
    },
  ],
  ['javascript', onNode('javascript')],
  ['typescript', onNode('typescript')],
])

// Told on the channel: what a shell says of a missing program would pass for output of the code.
const LAUNCH = String.raw`type -P -- "$1" >/dev/null && exec -- "$@"
printf '{"type":"absent","program":"%s"}\n' "$1" >&3; exit 127`

/** The command that runs code on its own, and tells when there is no interpreter. */
export function onceCommand(language: Language, code: CodeSource): readonly string[] {
  return ['bash', '--noprofile', '--norc', '-c', LAUNCH, 'bash', ...language.once(code)]
}

/**
 * Hands a run to the interpreter of a context and waits for its end. The interpreter opens the outputs
 * of this process, so all that is done with those of a command holds for it: also that at a deadline
 * whoever writes to them is ended.
 */
const CLIENT = String.raw`exec 4>&1 5>&2 6>&3 2>/dev/null
q=$1
tell() { printf '{"type":"%s","program":"%s"}\n' "$1" "$3" >&6; exit "$2"; }
gone() { [[ -e $q/exit || ! -e /proc/$p ]]; }
absent() { [[ -f $q/absent ]] && { read -r -n 64 program <"$q/absent"; tell absent 127 "$program"; }; }
[[ -f $q/pid && -p $q/in && -p $q/done ]] && read -r -n 64 p _ <"$q/pid" || tell lost 1
exec {turn}<"$q" && flock "$turn" || tell lost 1
gone && { absent; tell lost 1; }
if [[ $3 == file ]]; then mv -f -- "$4" "$q/code"; else printf %s "$4" >"$q/code"; fi || tell full 1
exec {in}<>"$q/in" {done}<>"$q/done"
printf '%s %s\n' "$2" "$$" >&"$in"
line=
while :; do
  if read -r -t 0.05 part <&"$done"; then
    line+=$part; [[ $line == "$2 "* ]] && break
    line=; continue
  fi
  # What came before the pause was over is only there once.
  line+=$part
  gone || continue
  absent
  for ((i = 0; i < 100; i++)); do [[ -f $q/exit ]] && break; read -r -t 0.01 <&"$done"; done
  status=137; [[ -f $q/exit ]] && read -r -n 8 status <"$q/exit"
  [[ $status =~ ^[0-9]+$ ]] || status=137
  tell ended "$status"
done
set -- $line
exit "$2"`

/** The command that runs code in a context. @param mark Unlike that of any other run. */
export function clientCommand(home: string, mark: string, code: CodeSource): readonly string[] {
  return ['bash', '--noprofile', '--norc', '-c', CLIENT, 'bash', home, mark, ...code]
}

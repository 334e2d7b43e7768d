import { MARKER_VARIABLE } from '../processes/process-table.ts'

/** What the first process says to whoever started it: the namespace is made. */
export const BEGUN = '+'

/** From here on what the shell itself says goes nowhere, such as what it says of a signal. */
const BEGIN = `printf ${BEGUN} >&2; exec 2>/dev/null`

/**
 * Runs a program in a process of its own and ends with its exit code. This shell is the first
 * process of a namespace: when it ends, the kernel kills every other one there. Descriptor 3 is
 * where the program writes its errors.
 */
const RUN = '(exec "$@" 2>&3 3>&-); exit $?'

/** Names that a shell can set; some shells do not let these go. */
const VARIABLE_NAME = /^[A-Za-z_]\w*$/
const FIXED: ReadonlySet<string> = new Set(
  'BASHOPTS BASH_VERSINFO EUID OPTIND PPID SHELLOPTS UID'.split(' '),
)

/** Arguments for a POSIX shell, and an environment that means nothing to what starts the shell. */
export interface InitCommand {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * The command of a first process. Variables such as `LD_PRELOAD` would put code of the command into
 * the programs that set the namespace up, outside of it: they arrive under other names, and get
 * their own inside.
 * @param limit A line that limits what the program may do.
 */
export function initCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  limit?: string,
): InitCommand {
  const outer: Record<string, string> = {}
  const exports: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (name === MARKER_VARIABLE || !VARIABLE_NAME.test(name)) outer[name] = value
    else if (!FIXED.has(name)) {
      const stand = `HELIX_WS_${exports.length}_`
      outer[stand] = value
      exports.push(`export ${name}="$${stand}"; unset ${stand}`)
    }
  }
  const script = [BEGIN, ...(limit === undefined ? [] : [limit]), ...exports, RUN].join('\n')
  return { args: ['-c', script, 'init', ...words], env: outer }
}

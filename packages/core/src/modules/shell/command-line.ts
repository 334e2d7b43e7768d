import { type CommandWord, LineScanner } from './line-scanner.ts'
import { parseWords, programName } from './words.ts'

/** The commands of a line, as far as they are known before it runs. */
export interface CommandLine {
  /** Simple commands, also those behind programs that start others (`env`, `xargs`, `sh -c`). */
  readonly commands: readonly (readonly CommandWord[])[]
  /** Why there may be more commands than these. */
  readonly opaque?: string
}

/** Longer lines are opaque: to take one apart takes no more than a few milliseconds. */
const MAX_LINE_CHARACTERS = 32_768
const MAX_COMMANDS = 1000
const MAX_DEPTH = 4
const MAX_WRAPPER_WORDS = 200

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Words in front of a command that are none themselves. */
const RESERVED = set('if then else elif fi do done while until esac ! {')
/** Builtins and reserved words that decide what later words mean. */
const OPAQUE = set(
  'for case select function coproc eval alias unalias trap enable hash source . ssh',
)
/** Programs that run the command in their arguments. */
const WRAPPERS = set(
  'env sudo doas nice ionice chrt taskset nohup timeout time command builtin exec xargs stdbuf setsid watch parallel find fd fdfind chroot unshare nsenter strace ltrace script flock entr busybox toybox runuser setpriv faketime dbus-run-session caffeinate',
)
/** Wrappers that add words which they read. */
const FEEDERS = set('xargs parallel find fd fdfind')
const SHELLS = /^(?:ba|da|z|k|mk|a|fi|c|tc|rba)?sh$|^su$/
/** Programs that take a program as an argument, and the options in front of it. */
const INTERPRETERS: readonly (readonly [program: RegExp, code: RegExp])[] = [
  [/^(?:python|pypy)[\d.]*$/, /^-\w*c/],
  [/^(?:node|nodejs|bun|deno|tsx)$/, /^(?:-\w*[ep]|--eval|--print|eval$)/],
  [/^(?:perl[\d.]*|ruby|lua[\d.]*|luajit|rscript|osascript|elixir|julia)$/, /^-\w*[eE]/],
  [/^php[\d.]*$/, /^-\w*[rBRE]/],
  [/^[gmn]?awk$/, /system|\||getline/],
]
/**
 * Programs that run a command in an argument, and which: the argument, a space, and the subcommand in
 * front of it. Long options may be cut short. Of the settings of git, those of `user` start nothing.
 */
const HOLDERS: ReadonlyMap<string, RegExp> = new Map([
  [
    'git',
    /^(?:-[cO]|--(?:config|exec|upl|rece|ext|open)|filter-branch $|run bisect$|foreach submodule$|(?!user\.)\w+\..* config$)/,
  ],
  [
    'tar',
    /^(?:-[^-]*[FI]|[cfhjkmprtuvxzJO]*[FI][cfhjkmprtuvxzJO]* $|--(?:ch|to-c|us|inf|new-v|rs|rm))/,
  ],
  ['rsync', /^-(?:[^-]*e|-rs)/],
  ['sort', /^--com/],
])
/** Options in front of a subcommand that take the next word. */
const TAKES_NEXT = /^(?:-C|--(?:git-dir|work-tree|namespace))$/
const ONLY_SAYS = /^(?:--version|--help|-V|-v|-h)$/
/** Variables that make a program start, load or find others. */
const DANGEROUS_VARIABLE =
  /^(?:PATH|IFS|ENV|PS4|SHELLOPTS|BASHOPTS|BASH_.*|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL5.*|RUBY.*|.*_COMMAND|(?:.*_)?(?:EDITOR|PAGER|SHELL))$/

/**
 * Takes a command line apart, as far as that is certain. Plain words are one command; of a line with
 * operators each simple command is found. What is known only by running it (substitutions, here
 * documents, `eval`, code for an interpreter) makes the line opaque.
 *
 * @param variables Names of variables that the call sets for the line.
 */
export function readCommandLine(line: string, variables: readonly string[] = []): CommandLine {
  const reader = new CommandReader()
  const dangerous = variables.find(changesPrograms)
  if (dangerous !== undefined) reader.hide(`${dangerous} can make a program start another one`)
  reader.readLine(line, 0)
  const { commands, opaque } = reader
  return { commands, ...(opaque !== undefined && { opaque }) }
}

/** Whether a variable can change which programs a command starts. */
export function changesPrograms(name: string): boolean {
  return DANGEROUS_VARIABLE.test(name)
}

/** Whether an argument of a program may be a command that it runs. */
function holdsCommand(program: string, args: readonly CommandWord[]): boolean {
  const held = HOLDERS.get(program)
  let subcommand = ''
  return args.some((word = '', index) => {
    const isHeld = held?.test(`${word} ${subcommand}`) === true
    const isName = !word.startsWith('-') && !TAKES_NEXT.test(args[index - 1] ?? '')
    if (subcommand === '' && isName) subcommand = word
    return isHeld
  })
}

class CommandReader {
  readonly commands: (readonly CommandWord[])[] = []
  opaque: string | undefined

  hide(reason: string): void {
    this.opaque ??= reason
  }

  readLine(line: string, depth: number): void {
    if (depth > MAX_DEPTH) return this.hide('it is nested too deeply')
    if (line.length > MAX_LINE_CHARACTERS) return this.hide('it is too long')
    const plain = depth === 0 ? parseWords(line).words : undefined
    if (plain !== undefined) return this.#readCommand(plain, depth)
    const scanner = new LineScanner(line)
    const problem = scanner.scan()
    if (problem !== undefined) this.hide(problem)
    const changing = scanner.variables.find(changesPrograms)
    if (changing !== undefined) this.hide(`${changing} can make a program start another one`)
    for (const command of scanner.commands) this.#readCommand(command, depth)
  }

  #readCommand(words: readonly CommandWord[], depth: number): void {
    const start = words.findIndex((word) => word === undefined || !RESERVED.has(word))
    if (start < 0) return
    const command = start === 0 ? words : words.slice(start)
    this.#add(command)
    const program = nameOf(command)
    if (program === undefined) return
    if (OPAQUE.has(program)) return this.hide(`${program} decides what is run`)
    if (WRAPPERS.has(program)) this.#readWrapper(program, command, depth)
    else this.#readInner(program, command, depth)
  }

  #add(command: readonly CommandWord[]): void {
    if (this.commands.length < MAX_COMMANDS) this.commands.push(command)
    else this.hide('it has too many commands')
  }

  /** Any word may be where the inner command begins: options of programs differ. */
  #readWrapper(program: string, words: readonly CommandWord[], depth: number): void {
    if (words.length > MAX_WRAPPER_WORDS) return this.hide(`${program} has too many words`)
    const fed = FEEDERS.has(program) ? [...words, undefined] : words
    for (let start = 1; start < words.length; start += 1) {
      const word = words[start]
      if (word !== undefined && /[\s;|&$`()<>]/.test(word)) this.#readArgument(word, depth)
      const inner = fed.slice(start)
      this.#add(inner)
      const name = nameOf(inner)
      if (name === undefined) continue
      if (OPAQUE.has(name)) this.hide(`${name} decides what is run`)
      if (fed !== words && WRAPPERS.has(name)) this.hide(`${program} gives ${name} its words`)
      this.#readInner(name, inner, depth)
    }
  }

  /** A word of a wrapper that is a command line, also one glued to an option (`-Scurl x`). */
  #readArgument(word: string, depth: number): void {
    if (word.startsWith('-')) this.hide('an option holds a command')
    else this.readLine(word, depth + 1)
  }

  /** Shells and interpreters run what stands in an argument. */
  #readInner(program: string, words: readonly CommandWord[], depth: number): void {
    if (SHELLS.test(program)) return this.#readShell(program, words, depth)
    const args = words.slice(1)
    const code = INTERPRETERS.find(([name]) => name.test(program))?.[1]
    const isCode = (word: CommandWord): boolean => word === undefined || code?.test(word) === true
    if (code === undefined ? holdsCommand(program, args) : args.some(isCode)) {
      return this.hide(`${program} gets code that may start programs`)
    }
    if (code === undefined) return
    const isFed = args.every((word) => word === undefined || (word.startsWith('-') && !says(word)))
    if (isFed || args.includes('-')) this.hide(`${program} reads its program from its input`)
  }

  #readShell(program: string, words: readonly CommandWord[], depth: number): void {
    const args = words.slice(1)
    if (args.includes(undefined)) return this.hide(`${program} gets words that are not known`)
    const hasLine = args.some((word) => word !== undefined && /^[-+]\w*c/.test(word))
    const operands = args.filter((word) => word !== undefined && !/^[-+]/.test(word))
    if (hasLine) {
      for (const operand of operands) this.readLine(operand ?? '', depth + 1)
    } else if (operands.length === 0 && !args.some((word) => says(word ?? ''))) {
      this.hide(`${program} reads its commands from its input`)
    }
  }
}

function says(word: string): boolean {
  return ONLY_SAYS.test(word)
}

function nameOf([word]: readonly CommandWord[]): string | undefined {
  return word === undefined ? undefined : programName(word).toLowerCase()
}

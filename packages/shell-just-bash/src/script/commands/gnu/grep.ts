import type { GrepOptions, GrepResult } from '@helix-agents/core/provider'
import type { Command } from 'just-bash'
import { grepText } from '../filters/grep-text.ts'
import { anyPlainPattern, isRe2Pattern } from '../filters/plain-pattern.ts'
import type { ScriptHost } from '../../script.ts'
import { SHELL_ROOT } from '../../script.ts'
import {
  type CommandContext,
  type CommandResult,
  EMPTY,
  splitOptions,
  wrapped,
} from './operands.ts'

/** Flags of a search that the files of the workspace can do themselves. */
const OWN_FLAGS = /^-[rRnilhFE]+$/
const INCLUDE = /^--include=([\w.*?-]+)$/
const MAX_MATCHES = 50_000

/**
 * A search for plain words below one directory is the search of the workspace, which is a hundred times
 * as fast. Other forms of arguments are brought into those that just-bash knows.
 */
export function grepCommand(host: ScriptHost): Command {
  return wrapped('grep', async (args, original, context) => {
    const found = (await searchFiles(args, host, context)) ?? (await grepText(args, context))
    if (found !== undefined) return found
    const isSilent = args.some((arg) => /^-[a-zA-Z]*s/.test(arg))
    const result = showDot(args, await original(knownForms(args)))
    if (result.exitCode === 1 && /No such file|Is a directory/.test(result.stderr)) {
      return { ...result, exitCode: 2, stderr: isSilent ? '' : result.stderr }
    }
    return isSilent ? { ...result, stderr: '' } : result
  })
}

/** Names below `.` start with it. */
function showDot(args: readonly string[], result: CommandResult): CommandResult {
  const options = args.filter((arg) => /^-[a-zA-Z]+$/.test(arg)).join('')
  const namesEachLine = /[rR]/.test(options) && !/[hABC]/.test(options)
  if (!namesEachLine || args.at(-1) !== '.') return result
  return { ...result, stdout: result.stdout.replaceAll(/^(?!\.\/)(?=.)/gm, './') }
}

function knownForms(args: readonly string[]): string[] {
  const split = splitOptions(args, 'emABCf').filter((arg) => !arg.startsWith('--color'))
  const plain = split.flatMap((arg) => {
    if (!/^-[a-zA-Z]*s[a-zA-Z]*$/.test(arg)) return [arg]
    const rest = arg.replace('s', '')
    return rest === '-' ? [] : [rest]
  })
  const withNames = plain.some((arg) => /^-[a-zA-Z]*H/.test(arg))
  // A second operand makes grep show names.
  const named = plain.flatMap((arg) => {
    const rest = /^-[a-zA-Z]*H/.test(arg) ? arg.replace('H', '') : arg
    return rest === '-' && arg !== '-' ? [] : [rest]
  })
  return joinPatterns(withNames ? [...named, '/dev/null'] : named)
}

/** Several `-e` are one pattern of alternatives. */
function joinPatterns(args: readonly string[]): string[] {
  const patterns = args.filter((_, index) => args[index - 1] === '-e')
  if (patterns.length < 2) return [...args]
  const rest = args.filter((arg, index) => arg !== '-e' && args[index - 1] !== '-e')
  const isExtended = rest.some((arg) => /^-[a-zA-Z]*[EP]/.test(arg))
  return [patterns.join(isExtended ? '|' : '\\|'), ...rest].toSorted(optionsFirst)
}

function optionsFirst(a: string, b: string): number {
  return Number(b.startsWith('-')) - Number(a.startsWith('-'))
}

interface Search {
  readonly pattern: string
  readonly mode: 'literal' | 'regex'
  readonly includeGlob: string | undefined
  readonly directory: string
  readonly flags: ReadonlySet<string>
}

async function searchFiles(
  args: readonly string[],
  host: ScriptHost,
  { fs, cwd }: CommandContext,
): Promise<CommandResult | undefined> {
  const search = parseSearch(args)
  if (search === undefined) return undefined
  const at = fs.resolvePath(cwd, search.directory)
  if (at !== SHELL_ROOT && !at.startsWith(`${SHELL_ROOT}/`)) return undefined
  if (!(await fs.exists(at)) || !(await fs.stat(at)).isDirectory) return undefined
  const path = at.slice(SHELL_ROOT.length) || '/'
  const result = await searchWorkspace(host, search.pattern, {
    path,
    mode: search.mode,
    ...(search.includeGlob !== undefined && { includeGlob: search.includeGlob }),
    ignoreCase: search.flags.has('i'),
    maxResults: MAX_MATCHES,
    maxGrepFileSizeMb: Infinity,
  })
  return result?.countIsComplete ? render(result, search, path) : undefined
}

async function searchWorkspace(
  host: ScriptHost,
  pattern: string,
  options: GrepOptions,
): Promise<GrepResult | undefined> {
  try {
    return await host.files.grep(pattern, options)
  } catch (error) {
    // just-bash says what is wrong with it, in the words of grep.
    if (codeOf(error) === 'invalid-pattern') return undefined
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

function render(
  { matches }: GrepResult,
  { directory, flags }: Search,
  path: string,
): CommandResult {
  const below = path === '/' ? 1 : path.length + 1
  const shown = (found: string): string => `${directory.replace(/\/$/, '')}/${found.slice(below)}`
  const lines = flags.has('l')
    ? [...new Set(matches.map((match) => shown(match.path)))]
    : matches.map((match) => {
        const number = flags.has('n') ? `${match.lineNumber}:` : ''
        return `${flags.has('h') ? '' : `${shown(match.path)}:`}${number}${match.line}`
      })
  if (lines.length === 0) return { ...EMPTY, exitCode: 1 }
  return { ...EMPTY, stdout: `${lines.join('\n')}\n`, stdoutKind: 'text' }
}

function parseSearch(args: readonly string[]): Search | undefined {
  const options = args.filter((arg) => arg.startsWith('-'))
  const includes = options.filter((arg) => INCLUDE.test(arg))
  const [source, directory = '.', ...more] = args.filter((arg) => !arg.startsWith('-'))
  const flags = flagsOf(options.filter((arg) => !INCLUDE.test(arg)))
  if (source === undefined || flags === undefined) return undefined
  if (more.length > 0 || includes.length > 1) return undefined
  const includeGlob = INCLUDE.exec(includes[0] ?? '')?.[1]
  const found = patternOf(source, flags)
  return found && { ...found, directory, flags, includeGlob }
}

/** Undefined: this is no search of directories, or one with more options. */
function flagsOf(options: readonly string[]): ReadonlySet<string> | undefined {
  const flags = new Set(options.join(''))
  if (!options.every((option) => OWN_FLAGS.test(option))) return undefined
  return flags.has('r') || flags.has('R') ? flags : undefined
}

function patternOf(
  source: string,
  flags: ReadonlySet<string>,
): Pick<Search, 'pattern' | 'mode'> | undefined {
  const plain = anyPlainPattern(source, { isFixed: flags.has('F'), isExtended: flags.has('E') })
  if (plain?.literal !== undefined) return { pattern: source, mode: 'literal' }
  // The end of a line is in front of a carriage return there.
  if (source.includes('$')) return undefined
  if (plain !== undefined) return { pattern: plain.expression.source, mode: 'regex' }
  const isKnown = flags.has('E') && !flags.has('F') && isRe2Pattern(source)
  return isKnown ? { pattern: source, mode: 'regex' } : undefined
}

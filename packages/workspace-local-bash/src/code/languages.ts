import { WorkspaceFailedError } from '@helix-agents/core'
import { findTooOld, type LeastVersion } from './program-version.ts'
import { findProgram } from '../shell/find-program.ts'
import { BASH_PROGRAM } from './programs/bash-program.ts'
import { JAVASCRIPT_PROGRAM } from './programs/javascript-program.ts'
import { PYTHON_PROGRAM } from './programs/python-program.ts'

/** A language of the machine: its program, and what follows it. */
interface LanguageFacts {
  readonly program: string
  readonly words: readonly string[]
  /** Default: any. */
  readonly least?: LeastVersion
}

const PYTHON: LeastVersion = {
  version: [3, 8],
  words: ['-I', '-S', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
}

const LANGUAGES: ReadonlyMap<string, LanguageFacts> = new Map([
  ['python', { program: 'python3', words: ['-c', PYTHON_PROGRAM], least: PYTHON }],
  [
    'javascript',
    {
      program: 'node',
      words: ['--no-warnings', '--input-type=commonjs', '-e', JAVASCRIPT_PROGRAM],
    },
  ],
  ['bash', { program: 'bash', words: ['--noprofile', '--norc', '-c', BASH_PROGRAM] }],
])

/** Words of a command that runs a language, by its name. */
export type Interpreters = ReadonlyMap<string, readonly string[]>

/**
 * The interpreters of the machine.
 * @param wanted Languages that an agent declares; undefined for all that there are.
 * @param path Where programs are searched: a `PATH`.
 * @param isSeen Whether commands of the workspace see a path of the host.
 * @throws {WorkspaceFailedError} `capability-missing` for a declared one that is not there or too old.
 */
export async function findInterpreters(
  wanted: readonly string[] | undefined,
  path: string,
  isSeen: (program: string) => boolean,
): Promise<Interpreters> {
  const seen = path.split(':').filter(isSeen).join(':')
  const interpreters = new Map<string, readonly string[]>()
  const names = new Set(wanted ?? LANGUAGES.keys())
  for (const [name, { program, words }] of LANGUAGES) {
    const file = names.has(name) ? findProgram(program, seen) : undefined
    if (file === undefined || !isSeen(file)) continue
    const problem = await problemWith(name, file)
    if (problem === undefined) interpreters.set(name, [file, ...words])
    else if (wanted !== undefined) throw problem
  }
  const missing = wanted?.find((name) => !interpreters.has(name))
  if (missing !== undefined) throw languageMissing(missing)
  return interpreters
}

async function problemWith(name: string, file: string): Promise<WorkspaceFailedError | undefined> {
  const least = LANGUAGES.get(name)?.least
  const tooOld = least && (await findTooOld(file, least))
  return tooOld && languageTooOld(name, tooOld)
}

function languageTooOld(
  name: string,
  { found, least }: { readonly found: string; readonly least: string },
): WorkspaceFailedError {
  const program = LANGUAGES.get(name)?.program ?? name
  const detail = `code in "${name}" needs ${program} ${least} or later, and the host has ${found}`
  return new WorkspaceFailedError('capability-missing', detail, {
    hint: `An operator must install ${program} ${least} or later, or declare other languages.`,
  })
}

function languageMissing(name: string): WorkspaceFailedError {
  const program = LANGUAGES.get(name)?.program
  const shown = JSON.stringify(name.slice(0, 40))
  if (program === undefined) {
    return new WorkspaceFailedError('capability-missing', `local-bash runs no code in ${shown}`, {
      hint: `Declare of these languages: ${[...LANGUAGES.keys()].join(', ')}.`,
    })
  }
  const detail = `code in ${shown} needs the program ${program}, which the host does not have`
  return new WorkspaceFailedError('capability-missing', detail, {
    hint: `An operator must install ${program}, or declare other languages.`,
  })
}

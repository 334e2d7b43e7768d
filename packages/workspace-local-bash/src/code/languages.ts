import { WorkspaceFailedError } from '@helix-agents/core'
import { findProgram } from '../shell/find-program.ts'
import { BASH_PROGRAM } from './programs/bash-program.ts'
import { JAVASCRIPT_PROGRAM } from './programs/javascript-program.ts'
import { PYTHON_PROGRAM } from './programs/python-program.ts'

/** A language of the machine: its program, and what follows it. */
interface LanguageFacts {
  readonly program: string
  readonly words: readonly string[]
}

const LANGUAGES: ReadonlyMap<string, LanguageFacts> = new Map([
  ['python', { program: 'python3', words: ['-c', PYTHON_PROGRAM] }],
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
 * @throws {WorkspaceFailedError} `capability-missing` for a declared one that is not there.
 */
export function findInterpreters(
  wanted: readonly string[] | undefined,
  path: string,
  isSeen: (program: string) => boolean,
): Interpreters {
  const seen = path.split(':').filter(isSeen).join(':')
  const found = [...LANGUAGES].flatMap(([name, { program, words }]) => {
    if (wanted !== undefined && !wanted.includes(name)) return []
    const file = findProgram(program, seen)
    return file === undefined || !isSeen(file) ? [] : [[name, [file, ...words]] as const]
  })
  const interpreters = new Map(found)
  for (const name of wanted ?? []) if (!interpreters.has(name)) throw languageMissing(name)
  return interpreters
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

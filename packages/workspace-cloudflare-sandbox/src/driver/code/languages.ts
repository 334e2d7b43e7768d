import { SCRIPTS } from '../script/scripts.generated.ts'
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

/** The command that runs code on its own, and reports a missing interpreter. */
export function onceCommand(language: Language, code: CodeSource): readonly string[] {
  return [
    'bash',
    '--noprofile',
    '--norc',
    '-c',
    SCRIPTS['code-launch'],
    'bash',
    ...language.once(code),
  ]
}

/** The command that runs code in a context. @param mark Unlike that of any other run. */
export function clientCommand(home: string, mark: string, code: CodeSource): readonly string[] {
  return [
    'bash',
    '--noprofile',
    '--norc',
    '-c',
    SCRIPTS['code-client'],
    'bash',
    home,
    mark,
    ...code,
  ]
}

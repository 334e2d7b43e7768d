// The commands that run code: which program, and what it is told.
import { describe, expect, it } from 'vitest'
import { JAVASCRIPT_PROGRAM } from '../../../src/driver/code/javascript-program.ts'
import {
  clientCommand,
  type Language,
  LANGUAGES,
  onceCommand,
} from '../../../src/driver/code/languages.ts'
import { PYTHON_PROGRAM } from '../../../src/driver/code/python-program.ts'
import { SCRIPTS } from '../../../src/driver/script/scripts.generated.ts'

const BASH = ['bash', '--noprofile', '--norc', '-c']
const NODE = ['node', '--no-warnings', '--input-type=commonjs', '-e', JAVASCRIPT_PROGRAM]

const language = (name: string): Language => {
  const known = LANGUAGES.get(name)
  if (known === undefined) throw new Error(`no ${name}`)
  return known
}

describe('code', () => {
  it.each([
    ['python', ['python3', '-c', PYTHON_PROGRAM], []],
    ['javascript', NODE, ['javascript']],
    ['typescript', NODE, ['typescript']],
  ])('of %s is run by its program', (name, program, which) => {
    const launch = [...BASH, SCRIPTS['code-launch'], 'bash']
    expect(onceCommand(language(name), ['file', '/f'])).toEqual([
      ...launch,
      ...program,
      'once',
      ...which,
      'file',
      '/f',
    ])
    const serve = [...program, 'serve', ...which, '/home', '/cwd']
    expect(language(name).serve('/home', '/cwd')).toEqual(serve)
  })
  it('is of these languages', () => {
    expect([...LANGUAGES.keys()]).toEqual(['python', 'javascript', 'typescript'])
  })
  it('of a context is sent to its home', () => {
    const client = [...BASH, SCRIPTS['code-client'], 'bash']
    expect(clientCommand('/home', 'm1', ['text', '1'])).toEqual([
      ...client,
      '/home',
      'm1',
      'text',
      '1',
    ])
  })
})

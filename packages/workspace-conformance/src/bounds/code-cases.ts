import { check } from '../assert.ts'
import type { BoundCase } from './bound-case.ts'
import type { BoundScale } from './bound-scale.ts'
import type { BoundSubject } from './bound-subject.ts'
import { MEGABYTE_TEXT } from './hostile-files.ts'

/**
 * Python that prints without an end. A double that runs no code reads the comment: what comes, and
 * how much of it.
 */
const floods: readonly (readonly [what: string, code: (scale: BoundScale) => string])[] = [
  ['zeros', ({ textBytes }) => `print('\\0' * ${textBytes}) # zeros ${textBytes}`],
  ['many-outputs', ({ entries }) => `for i in range(${entries}): print(i) # outputs ${entries}`],
  [
    'a-huge-display',
    ({ textBytes }) =>
      `from IPython.display import HTML, display\ndisplay(HTML('x' * ${textBytes})) # display ${textBytes}`,
  ],
  ['a-deep-result', ({ depth }) => `a = []\nfor i in range(${depth}): a = [a]\na # deep ${depth}`],
  ['a-wide-result', ({ entries }) => `{str(i): i for i in range(${entries})} # wide ${entries}`],
]

export const codeCases: readonly BoundCase[] = [
  ...floods.map(([what, code]): BoundCase => ({
    name: `run_code/${what}`,
    needs: ['code'],
    input: (scale) => ({ language: 'python', code: code(scale) }),
    results: ['ok'],
  })),
  {
    name: 'run_code/a-megabyte-of-code',
    needs: ['code'],
    input: () => ({ language: 'python', code: `'${MEGABYTE_TEXT}'` }),
  },
  {
    name: 'run_code/a-megabyte-language',
    needs: ['code'],
    input: () => ({ language: MEGABYTE_TEXT, code: '1' }),
    results: ['invalid-input', 'language-not-allowed'],
  },
  {
    name: 'create_code_context/a-megabyte-language',
    needs: ['code', 'stateful-code'],
    input: () => ({ language: MEGABYTE_TEXT }),
    results: ['invalid-input', 'language-not-allowed'],
  },
  ...floods.map(([what, code]): BoundCase => ({
    name: `run_in_code_context/${what}`,
    needs: ['code', 'stateful-code'],
    prepare: createContext,
    input: (scale, contextId) => ({ contextId, code: code(scale) }),
    results: ['ok'],
  })),
  {
    name: 'delete_code_context/a-megabyte-id',
    needs: ['code', 'stateful-code'],
    input: () => ({ contextId: MEGABYTE_TEXT }),
  },
]

async function createContext({ target }: BoundSubject): Promise<string> {
  const id = await target.workspace.code?.createContext?.('python')
  check(id !== undefined, 'an interpreter with contexts')
  return id
}

import { check } from '../assert.ts'
import type { BoundCase } from './bound-case.ts'
import type { BoundScale } from './bound-scale.ts'
import type { BoundSubject } from './bound-subject.ts'
import { MEGABYTE_TEXT } from './hostile-files.ts'

type Flood = (scale: BoundScale) => string

/**
 * Code that prints without an end. A double that runs no code reads the comment of the Python: what
 * comes, and how much of it.
 */
const floods: readonly (readonly [what: string, python: Flood, javascript: Flood])[] = [
  [
    'zeros',
    ({ textBytes }) => `print('\\0' * ${textBytes}) # zeros ${textBytes}`,
    ({ textBytes }) => `console.log('\\0'.repeat(${textBytes}))`,
  ],
  [
    'many-outputs',
    ({ entries }) => `for i in range(${entries}): print(i) # outputs ${entries}`,
    ({ entries }) => `for (let i = 0; i < ${entries}; i += 1) console.log(i)`,
  ],
  [
    'a-huge-display',
    ({ textBytes }) =>
      `from IPython.display import HTML, display\ndisplay(HTML('x' * ${textBytes})) # display ${textBytes}`,
    ({ textBytes }) => `display({ 'text/html': 'x'.repeat(${textBytes}) })`,
  ],
  [
    'a-deep-result',
    ({ depth }) => `a = []\nfor i in range(${depth}): a = [a]\na # deep ${depth}`,
    ({ depth }) => `let a = []; for (let i = 0; i < ${depth}; i += 1) a = [a]; a`,
  ],
  [
    'a-wide-result',
    ({ entries }) => `{str(i): i for i in range(${entries})} # wide ${entries}`,
    ({ entries }) => `Object.fromEntries(Array.from({ length: ${entries} }, (_, i) => [i, i]))`,
  ],
]

const LANGUAGES = ['python', 'javascript'] as const
type Language = (typeof LANGUAGES)[number]

/** One of the languages of the workspace; Python, where it has both. */
async function chooseLanguage({ target }: BoundSubject): Promise<Language> {
  const languages = target.workspace.code?.languages
  const known = LANGUAGES.find((language) => languages?.includes(language))
  check(known !== undefined, 'a language that the floods are written in')
  return known
}

function programOf(
  [, python, javascript]: (typeof floods)[number],
  language: Language,
  scale: BoundScale,
): string {
  return language === 'python' ? python(scale) : javascript(scale)
}

export const codeCases: readonly BoundCase[] = [
  ...floods.map((flood): BoundCase => ({
    name: `run_code/${flood[0]}`,
    needs: ['code'],
    prepare: chooseLanguage,
    input: (scale, language) => ({ language, code: programOf(flood, languageOf(language), scale) }),
    results: ['ok'],
  })),
  {
    name: 'run_code/a-megabyte-of-code',
    needs: ['code'],
    prepare: chooseLanguage,
    input: (_, language) => ({ language, code: `'${MEGABYTE_TEXT}'` }),
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
  ...floods.map((flood): BoundCase => ({
    name: `run_in_code_context/${flood[0]}`,
    needs: ['code', 'stateful-code'],
    prepare: createContext,
    input: (scale, prepared) => {
      const [language, contextId] = String(prepared).split(' ')
      return { contextId, code: programOf(flood, languageOf(language), scale) }
    },
    results: ['ok'],
  })),
  {
    name: 'delete_code_context/a-megabyte-id',
    needs: ['code', 'stateful-code'],
    input: () => ({ contextId: MEGABYTE_TEXT }),
  },
]

function languageOf(prepared: unknown): Language {
  return prepared === 'python' ? 'python' : 'javascript'
}

/** The language and the id, which has no space. */
async function createContext(subject: BoundSubject): Promise<string> {
  const language = await chooseLanguage(subject)
  const contextId = await subject.target.workspace.code?.createContext?.(language)
  check(contextId !== undefined, 'an interpreter with contexts')
  return `${language} ${contextId}`
}

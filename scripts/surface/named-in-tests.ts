// Which names of the public surface stand in a test that reaches their package.
import { logMessages } from '../../packages/core/src/logging/log-messages.ts'
import { find, read } from '../repository.ts'
import type { SurfaceName } from './public-surface.ts'

export interface TestText {
  readonly file: string
  readonly text: string
}

/** Tests, what they stand on, and the kit, whose behaviours are tests of every provider and store. */
export function testTexts(): TestText[] {
  const files = find([
    'packages/*/test/**/*.ts',
    'packages/workspace-conformance/src/**/*.ts',
    'examples/**/*.test.ts',
  ])
  return files.map((file) => ({ file, text: withoutComments(read(file)) }))
}

/** A name in a comment fails no test. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
}

/** The names that no test of `texts` would miss. */
export function unnamed(
  surface: readonly SurfaceName[],
  texts: readonly TestText[],
): SurfaceName[] {
  return surface.filter((each) => {
    const pattern = patternOf(each)
    return !texts.some((test) => mayTest(each, test) && pattern.test(test.text))
  })
}

/** Options have plain names, so only tests that reach their package count. */
function mayTest({ kind, folder }: SurfaceName, { file, text }: TestText): boolean {
  if (kind !== 'option') return true
  return file.startsWith(`packages/${folder}/`) || text.includes(`@helix-agents/${folder}`)
}

function patternOf({ kind, name, owner }: SurfaceName): RegExp {
  const literal = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  if (kind === 'option') return new RegExp(String.raw`(?<![\w'"-])${literal}(?:[:,(]|\s*\})`)
  // A parameter is `{id}` or `:id`.
  if (kind === 'route') {
    return new RegExp(literal.replaceAll(/\\\{\w+\\\}|:\w+/g, String.raw`[^'"\`]+`))
  }
  if (kind === 'metric') return new RegExp(`${literal}|METRICS\\.${owner}\\b|${prometheus(name)}`)
  if (kind === 'log text' && owner in logMessages) {
    return new RegExp(String.raw`${literal}|logMessages\.${owner}\b`)
  }
  return new RegExp(String.raw`(?<![\w-])${literal}(?![\w-])`)
}

function prometheus(name: string): string {
  return name.replaceAll('.', '_')
}

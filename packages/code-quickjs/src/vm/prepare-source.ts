import { type Node, parse, type Program } from 'acorn'
import { transform } from 'sucrase'

/** Statements that only a module may have: `import`, `export`. */
const MODULE_SYNTAX = /^[ \t]*(?:import|export)\b/m

/**
 * Code as the interpreter takes it: without types, with imports as `require`, and with top-level
 * `let` and `const` as `var`, so that a later run in the same context may declare a name again. Lines
 * stay lines. What cannot be parsed is returned as it is: the interpreter names the error.
 * @throws {SyntaxError} for types that cannot be taken away.
 */
export function prepareSource(language: string, code: string): string {
  return replaceable(plainSource(language, code))
}

function plainSource(language: string, code: string): string {
  const isTyped = language === 'typescript'
  if (!isTyped && !MODULE_SYNTAX.test(code)) return code
  const transforms = [...(isTyped ? ['typescript' as const] : []), 'imports' as const]
  try {
    const options = { transforms, disableESTransforms: true, preserveDynamicImport: true } as const
    return transform(code, { ...options, transforms: [...transforms] }).code
  } catch (error) {
    if (!isTyped) return code
    throw new SyntaxError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function replaceable(code: string): string {
  const edits = topLevelEdits(code)
  let plain = ''
  let done = 0
  for (const { at, length, text } of edits) {
    plain += code.slice(done, at) + text
    done = at + length
  }
  return plain + code.slice(done)
}

interface Edit {
  readonly at: number
  readonly length: number
  readonly text: string
}

function topLevelEdits(code: string): readonly Edit[] {
  return programOf(code).flatMap((statement): Edit[] => {
    const { type, start } = statement
    if (type === 'VariableDeclaration') {
      const keyword = /^(?:let|const)/.exec(code.slice(start, start + 5))?.[0]
      return keyword === undefined
        ? []
        : [{ at: start, length: keyword.length, text: padded(keyword) }]
    }
    const name = type === 'ClassDeclaration' ? classNameOf(statement) : undefined
    return name === undefined
      ? []
      : [
          { at: start, length: 0, text: `var ${name} = ` },
          { at: statement.end, length: 0, text: ';' },
        ]
  })
}

/** Columns of errors stay where they are. */
function padded(keyword: string): string {
  return 'var'.padEnd(keyword.length)
}

function classNameOf(statement: Node): string | undefined {
  const id: unknown = Reflect.get(statement, 'id')
  const name: unknown = typeof id === 'object' && id !== null ? Reflect.get(id, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

function programOf(code: string): Program['body'] {
  try {
    return parse(code, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      allowAwaitOutsideFunction: true,
      allowHashBang: true,
    }).body
  } catch {
    // Also for code that is nested too deeply: whether it runs is for the interpreter to say.
    return []
  }
}

import { parseSync } from 'vite'

/** A node of the syntax tree (ESTree with TypeScript), with its place in the text. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** A node that is visited, with what contains it. */
export interface Visit {
  readonly node: SyntaxNode
  /** The name of the field of `parent` that holds the node. */
  readonly field: string
  readonly parent: SyntaxNode | undefined
  /** The visit of `parent`; none for what stands at the top. */
  readonly outer?: Visit | undefined
}

/**
 * Parses TypeScript.
 * @throws {SyntaxError} for a text that is not TypeScript.
 */
export function parse(file: string, text: string): SyntaxNode {
  const { program, errors } = parseSync(file, text)
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${file}: ${error.message}`)
  return program
}

/** The nodes below `root` in the order of the text. Types, imports and re-exports are left out. */
export function* walk(root: SyntaxNode, outer?: Visit): Generator<Visit> {
  for (const [field, value] of Object.entries(root)) {
    for (const node of Array.isArray(value) ? value : [value]) {
      if (!isNode(node) || hasNoCode(node)) continue
      const visit = { node, field, parent: root, outer }
      yield visit
      yield* walk(node, visit)
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The node in a field of another one. */
export function childOf(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const child: unknown = Reflect.get(node, field)
  return isNode(child) ? child : undefined
}

/** The nodes in a list of another one. */
export function childrenOf(node: SyntaxNode, field: string): readonly SyntaxNode[] {
  const children: unknown = Reflect.get(node, field)
  return Array.isArray(children) ? children.filter((child) => isNode(child)) : []
}

const EXPRESSION_WITH_TYPE = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
])
const NO_CODE = new Set(['ImportDeclaration', 'ExportAllDeclaration'])

function hasNoCode({ type }: SyntaxNode): boolean {
  if (NO_CODE.has(type)) return true
  return type.startsWith('TS') && !EXPRESSION_WITH_TYPE.has(type)
}

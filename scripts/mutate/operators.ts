import { childOf, childrenOf, type SyntaxNode, type Visit } from './syntax.ts'

/** Replaces a piece of the text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** One way to change a program: the edits that it offers at a node. */
export type Operator = (visit: Visit, textOf: TextOf) => readonly Edit[]

type TextOf = (node: SyntaxNode) => string

/** The operators by name. */
export const OPERATORS: Readonly<Record<string, Operator>> = {
  'remove-statement': removeStatement,
  'remove-call': removeCall,
  'remove-await': removeAwait,
  'invert-condition': invertCondition,
  'swap-logic': swapLogic,
  'move-boundary': moveBoundary,
  'change-constant': changeConstant,
  'swap-arguments': swapArguments,
  'drop-option': dropOption,
}

const REMOVABLE = new Set([
  'ContinueStatement',
  'BreakStatement',
  'ThrowStatement',
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'WhileStatement',
  'ReturnStatement',
])

/** Leaves out a statement that is not a call; those of calls belong to `remove-call`. */
function removeStatement({ node }: Visit): readonly Edit[] {
  const isAssignment =
    node.type === 'ExpressionStatement' && !isCall(childOf(node, 'expression') ?? node)
  if (!isAssignment && !REMOVABLE.has(node.type)) return []
  return [replace(node, ';')]
}

function removeCall({ node }: Visit): readonly Edit[] {
  if (node.type !== 'ExpressionStatement') return []
  return isCall(childOf(node, 'expression') ?? node) ? [replace(node, ';')] : []
}

/** Whether it is a call, also one that is awaited or whose promise is dropped. */
function isCall(node: SyntaxNode): boolean {
  if (node.type === 'AwaitExpression' || node.type === 'UnaryExpression') {
    return isCall(childOf(node, 'argument') ?? { ...node, type: '' })
  }
  if (node.type === 'ChainExpression') return childOf(node, 'expression')?.type === 'CallExpression'
  return node.type === 'CallExpression'
}

function removeAwait({ node }: Visit, textOf: TextOf): readonly Edit[] {
  const awaited = node.type === 'AwaitExpression' ? childOf(node, 'argument') : undefined
  return awaited === undefined ? [] : [replace(node, textOf(awaited))]
}

const CONDITIONS = new Set([
  'IfStatement',
  'ConditionalExpression',
  'WhileStatement',
  'DoWhileStatement',
])

function invertCondition({ node, parent, field }: Visit, textOf: TextOf): readonly Edit[] {
  const isCondition = field === 'test' && parent !== undefined && CONDITIONS.has(parent.type)
  if (!isCondition && !isPredicate(node, parent, field)) return []
  return [replace(node, `!(${textOf(node)})`)]
}

const COMPARISONS = new Set(['===', '!==', '<', '>', '<=', '>=', 'in', 'instanceof'])

/** A comparison outside of a condition: one that is returned, named or passed on. */
function isPredicate(node: SyntaxNode, parent: SyntaxNode | undefined, field: string): boolean {
  if (node.type !== 'BinaryExpression' || !COMPARISONS.has(operatorOf(node))) return false
  return field === 'argument' || field === 'init' || parent?.type === 'LogicalExpression'
}

const OTHER_LOGIC: Readonly<Record<string, string>> = { '&&': '||', '||': '&&', '??': '&&' }

function swapLogic({ node }: Visit, textOf: TextOf): readonly Edit[] {
  if (node.type !== 'LogicalExpression') return []
  return swapOperator(node, OTHER_LOGIC, textOf)
}

const OTHER_BOUNDARY: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
}

function moveBoundary({ node }: Visit, textOf: TextOf): readonly Edit[] {
  if (node.type !== 'BinaryExpression') return []
  return swapOperator(node, OTHER_BOUNDARY, textOf)
}

function swapOperator(
  node: SyntaxNode,
  others: Readonly<Record<string, string>>,
  textOf: TextOf,
): readonly Edit[] {
  const [left, right] = [childOf(node, 'left'), childOf(node, 'right')]
  const other = others[operatorOf(node)]
  if (left === undefined || right === undefined || other === undefined) return []
  // A sum of texts stays one.
  if (other === '-' && [left, right].some(({ type }) => type === 'TemplateLiteral')) return []
  // Parentheses keep what belongs together, and `??` may not stand beside the others without.
  return [replace(node, `((${textOf(left)}) ${other} (${textOf(right)}))`)]
}

/** Numbers, booleans and names; a text with a space is a sentence for people. */
function changeConstant({ node, field }: Visit): readonly Edit[] {
  if (node.type !== 'Literal' || field === 'key' || field === 'source') return []
  const value: unknown = Reflect.get(node, 'value')
  if (typeof value === 'boolean') return [replace(node, String(!value))]
  if (typeof value === 'number') return [replace(node, String(value + 1))]
  if (typeof value !== 'string' || value.includes(' ')) return []
  return [replace(node, value === '' ? "'mutant'" : "''")]
}

/** The order of their arguments means nothing. */
const COMMUTATIVE = new Set(['Math.max', 'Math.min'])

function swapArguments({ node }: Visit, textOf: TextOf): readonly Edit[] {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
  const callee = childOf(node, 'callee')
  if (callee !== undefined && COMMUTATIVE.has(textOf(callee))) return []
  const [first, second] = childrenOf(node, 'arguments')
  if (first === undefined || second === undefined) return []
  const isSpread = [first, second].some(({ type }) => type === 'SpreadElement')
  if (isSpread || textOf(first) === textOf(second)) return []
  const text = `${textOf(second)}, ${textOf(first)}`
  return [{ start: first.start, end: second.end, text }]
}

/** Leaves out `...options` of an object, and a field of one that is an argument. */
function dropOption({ node, parent }: Visit): readonly Edit[] {
  if (parent?.type !== 'ObjectExpression') return []
  if (node.type === 'SpreadElement') return [replace(node, '...{}')]
  return node.type === 'Property' ? [replace(node, '...{}')] : []
}

function operatorOf(node: SyntaxNode): string {
  return String(Reflect.get(node, 'operator'))
}

function replace({ start, end }: SyntaxNode, text: string): Edit {
  return { start, end, text }
}

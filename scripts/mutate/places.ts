import type { SyntaxNode, Visit } from './syntax.ts'

/** A piece of a program that can stand beside a changed one, with a switch between them. */
export interface Place {
  readonly start: number
  readonly end: number
  readonly kind: 'expression' | 'statement'
}

const STATEMENTS = new Set([
  'BreakStatement',
  'ContinueStatement',
  'DoWhileStatement',
  'ExpressionStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'IfStatement',
  'LabeledStatement',
  'ReturnStatement',
  'SwitchStatement',
  'ThrowStatement',
  'TryStatement',
  'WhileStatement',
])

/** Where any statement may stand. The body of a label is none of them: `continue` names the loop. */
const PLACES_OF_STATEMENTS = new Set([
  'BlockStatement.body',
  'DoWhileStatement.body',
  'ForInStatement.body',
  'ForOfStatement.body',
  'ForStatement.body',
  'FunctionBody.statements',
  'IfStatement.alternate',
  'IfStatement.consequent',
  'Program.body',
  'StaticBlock.body',
  'SwitchCase.consequent',
  'WhileStatement.body',
])

/** Functions and classes are none: they would lose the name that they take from their variable. */
const EXPRESSIONS = new Set([
  'ArrayExpression',
  'AssignmentExpression',
  'AwaitExpression',
  'BinaryExpression',
  'CallExpression',
  'ChainExpression',
  'ConditionalExpression',
  'Identifier',
  'ImportExpression',
  'Literal',
  'LogicalExpression',
  'MemberExpression',
  'NewExpression',
  'ObjectExpression',
  'ParenthesizedExpression',
  'TaggedTemplateExpression',
  'TemplateLiteral',
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'UnaryExpression',
  'UpdateExpression',
  'YieldExpression',
])

/**
 * Where any expression may stand in parentheses. Left out: what a call or an access starts from,
 * which has `this` or ends early by `?.`, what is assigned to, and what `as const` looks at.
 */
const PLACES_OF_EXPRESSIONS = new Set([
  'ArrayExpression.elements',
  'ArrowFunctionExpression.body',
  'AssignmentExpression.right',
  'AssignmentPattern.right',
  'AwaitExpression.argument',
  'BinaryExpression.left',
  'BinaryExpression.right',
  'CallExpression.arguments',
  'ConditionalExpression.alternate',
  'ConditionalExpression.consequent',
  'ConditionalExpression.test',
  'DoWhileStatement.test',
  'ForOfStatement.right',
  'ForStatement.test',
  'ForStatement.update',
  'IfStatement.test',
  'LogicalExpression.left',
  'LogicalExpression.right',
  'NewExpression.arguments',
  'ParenthesizedExpression.expression',
  'PropertyDefinition.value',
  'ReturnStatement.argument',
  'SpreadElement.argument',
  'SwitchCase.test',
  'SwitchStatement.discriminant',
  'TemplateLiteral.expressions',
  'ThrowStatement.argument',
  'UnaryExpression.argument',
  'VariableDeclarator.init',
  'WhileStatement.test',
  'YieldExpression.argument',
])

/** The smallest place around a node; none for what cannot be switched. */
export function placeOf(visit: Visit): Place | undefined {
  for (let each: Visit | undefined = visit; each !== undefined; each = each.outer) {
    const { start, end } = each.node
    if (isStatement(each)) return { start, end, kind: 'statement' }
    if (isExpression(each)) return { start, end, kind: 'expression' }
  }
  return undefined
}

function isStatement({ node, field, parent }: Visit): boolean {
  if (typeof Reflect.get(node, 'directive') === 'string') return false
  return STATEMENTS.has(node.type) && PLACES_OF_STATEMENTS.has(`${parent?.type}.${field}`)
}

function isExpression(visit: Visit): boolean {
  const { node, field, parent } = visit
  if (!EXPRESSIONS.has(node.type) || parent === undefined || startsStatement(visit)) return false
  // `delete` takes a reference.
  if (parent.type === 'UnaryExpression') return Reflect.get(parent, 'operator') !== 'delete'
  if (parent.type === 'Property') return field === 'value' && isPlainField(parent, visit)
  if (parent.type === 'MemberExpression') {
    return field === 'property' && Reflect.get(parent, 'computed') === true
  }
  return PLACES_OF_EXPRESSIONS.has(`${parent.type}.${field}`)
}

/** Whether it is `key: value` of an object, not of a pattern. */
function isPlainField(property: SyntaxNode, { outer }: Visit): boolean {
  if (outer?.parent?.type !== 'ObjectExpression') return false
  const hasFlag = (flag: string): boolean => Reflect.get(property, flag) === true
  return !hasFlag('shorthand') && !hasFlag('method') && Reflect.get(property, 'kind') === 'init'
}

/** A parenthesis at the start of a statement would call what the line before it ends with. */
function startsStatement({ node, outer }: Visit): boolean {
  for (let each = outer; each !== undefined; each = each.outer) {
    if (each.node.start !== node.start) return false
    if (each.node.type === 'ExpressionStatement') return true
  }
  return false
}

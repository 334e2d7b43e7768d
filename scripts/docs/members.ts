// Signatures from the syntax tree.
import type {
  BindingPattern,
  ClassElement,
  MethodDefinition,
  ParamPattern,
  Span,
  TSSignature,
  TSTypeAnnotation,
} from 'oxc-parser'
import type {
  ClassDeclaration,
  FunctionDeclaration,
  InterfaceDeclaration,
  TypeDeclaration,
} from './declarations.ts'
import type { SourceFile } from './source-file.ts'

export interface Member {
  /** With the names of its parameters, when it is called. */
  readonly name: string
  readonly type: string
  readonly says: string
}

/** The public members of an interface or a class, in their order. */
export function membersOf({ node, source }: ClassDeclaration | InterfaceDeclaration): Member[] {
  const elements: readonly Element[] = node.body.body
  return elements.flatMap((element) => {
    const signature = isHidden(element, source) ? undefined : signatureOf(element, source)
    return signature === undefined ? [] : [{ ...signature, says: source.commentAbove(element) }]
  })
}

/** `name(a, b?)` of a function. */
export function callOf({ name, node }: FunctionDeclaration): string {
  return called(name, node)
}

/** How one is made; undefined for a class whose constructor is that of another one. */
export function constructorOf({ name, node }: ClassDeclaration): string | undefined {
  const made = node.body.body.find(
    (element) => element.type === 'MethodDefinition' && element.kind === 'constructor',
  )
  if (made?.type === 'MethodDefinition') return called(`new ${name}`, made.value)
  return node.abstract === true || node.superClass !== null ? undefined : `new ${name}()`
}

/** What a class or an interface extends. */
export function baseOf({ node, source }: ClassDeclaration | InterfaceDeclaration): string {
  if (node.type === 'TSInterfaceDeclaration') {
    return node.extends.map((base) => source.textOf(base)).join(', ')
  }
  if (node.superClass === null) return ''
  const types = node.superTypeArguments
  return source.textOf(node.superClass) + (types ? source.textOf(types) : '')
}

/** What stands behind the `=` of a type, in one line. */
export function typeText({ node, source }: TypeDeclaration): string {
  return source.textOf(node.typeAnnotation).replace(/^\| /, '')
}

type Element = ClassElement | TSSignature
type Signature = Omit<Member, 'says'>

function isHidden(element: Element, source: SourceFile): boolean {
  const isPrivate = 'accessibility' in element && element.accessibility === 'private'
  const isNamedPrivate = 'key' in element && element.key.type === 'PrivateIdentifier'
  return isPrivate || isNamedPrivate || source.isInternal(element)
}

function signatureOf(element: Element, source: SourceFile): Signature | undefined {
  switch (element.type) {
    case 'TSIndexSignature': {
      const keys = element.parameters.map((each) => source.textOf(each))
      return { name: `[${keys.join(', ')}]`, type: typeOf(element.typeAnnotation, source) }
    }
    case 'TSCallSignatureDeclaration':
      return { name: called('', element), type: typeOf(element.returnType, source) }
    case 'TSMethodSignature': {
      const name = called(keyOf(element, source), element)
      return { name, type: typeOf(element.returnType, source) }
    }
    case 'MethodDefinition':
    case 'TSAbstractMethodDefinition':
      return methodOf(element, source)
    case 'TSPropertySignature':
    case 'PropertyDefinition':
    case 'TSAbstractPropertyDefinition':
      return { name: keyOf(element, source), type: typeOf(element.typeAnnotation, source) }
    default:
      return undefined
  }
}

/** A getter is a property for who reads it. */
function methodOf(
  { kind, value, ...keyed }: MethodDefinition,
  source: SourceFile,
): Signature | undefined {
  if (kind === 'constructor') return undefined
  const key = keyOf(keyed, source)
  return {
    name: kind === 'method' ? called(key, value) : key,
    type: typeOf(value.returnType, source),
  }
}

function typeOf(annotation: TSTypeAnnotation | null | undefined, source: SourceFile): string {
  return annotation ? source.textOf(annotation.typeAnnotation) : ''
}

function keyOf({ key, computed, optional = false }: Keyed, source: SourceFile): string {
  const name = computed ? `[${source.textOf(key)}]` : source.textOf(key)
  return name + (optional ? '?' : '')
}

interface Keyed {
  readonly key: Span
  readonly computed: boolean
  readonly optional?: boolean
}

function called(name: string, { params }: { readonly params: readonly ParamPattern[] }): string {
  return `${name}(${parameterNames(params)})`
}

function parameterNames(all: readonly ParamPattern[]): string {
  return all.map(parameterName).join(', ')
}

function parameterName(parameter: ParamPattern): string {
  switch (parameter.type) {
    case 'RestElement':
      return `...${nameOf(parameter.argument)}`
    case 'AssignmentPattern':
      return `${nameOf(parameter.left)}?`
    case 'TSParameterProperty':
      return parameterName(parameter.parameter)
    default: {
      const { optional = false }: { readonly optional?: boolean } = parameter
      return nameOf(parameter) + (optional ? '?' : '')
    }
  }
}

/** A pattern has no name. */
function nameOf(pattern: BindingPattern): string {
  return pattern.type === 'Identifier' ? pattern.name : 'options'
}

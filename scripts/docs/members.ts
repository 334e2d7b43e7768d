// Signatures from source text, in the layout that the formatter leaves.
import { wholeComment } from './source-text.ts'

export interface Member {
  /** With the names of its parameters, when it is called. */
  readonly name: string
  readonly type: string
  readonly says: string
}

const modifiers = /^(?:(?:static|override|async|readonly|get|abstract|declare) )*/

/** The public members of an interface or a class, in their order. */
export function membersOf(declaration: string): Member[] {
  const start = declaration.indexOf('{\n')
  const header = declaration.slice(0, declaration.indexOf('\n'))
  if (start === -1 || header.endsWith('{}')) return []
  const body = declaration.slice(start + 2, declaration.indexOf('\n}', start))
  return piecesOf(body)
    .filter(({ text }) => !/^(?:private |constructor\b)|^(?:\w+ )*#/.test(text))
    .map(({ text, comment }) => toMember(text, comment))
}

/** `name(a, b?)` of the head of a function, or a constructor. */
export function callOf(head: string, name: string): string {
  const rest = head.slice(head.indexOf(name) + name.length)
  const parameters = afterGenerics(rest)
  return `${name}(${parameterNames(parameters)})`
}

/** How one is made; undefined for a class whose constructor is that of another one. */
export function constructorOf(declaration: string, name: string): string | undefined {
  const body = declaration.slice(0, declaration.indexOf('\n}'))
  const [header = ''] = body.split('\n')
  const start = body.search(/^ {2}constructor\(/m)
  if (start !== -1) return `new ${callOf(body.slice(start), 'constructor').replace(/^\w+/, name)}`
  return /abstract class| extends /.test(header) ? undefined : `new ${name}()`
}

/** What stands behind the `=` of a type, in one line. */
export function typeText(declaration: string): string {
  const lines = declaration.split('\n')
  const end = lines.findIndex((line, at) => at > 0 && !/^[ })]/.test(line))
  const whole = lines.slice(0, end === -1 ? lines.length : end).join('\n')
  return inOneLine(whole.slice(whole.indexOf(' =') + 2)).replace(/^\| /, '')
}

interface Piece {
  readonly text: string
  readonly comment: string
}

/** A piece begins at a line with an indent of two; its comment stands before it. */
function piecesOf(body: string): Piece[] {
  const pieces: { lines: string[]; comment: string }[] = []
  let comment = ''
  let isComment = false
  for (const line of body.split('\n')) {
    if (line.startsWith('  /**')) [comment, isComment] = ['', true]
    if (isComment) comment += `${line.replace(/^\s*\/?\*+\/? ?/, '').replace('*/', '')}\n`
    else if (/^ {2}[\w#['"]/.test(line)) {
      pieces.push({ lines: [line], comment })
      comment = ''
    } else pieces.at(-1)?.lines.push(line)
    if (line.endsWith('*/')) isComment = false
  }
  return pieces.map((piece) => ({ text: headOf(piece.lines), comment: piece.comment }))
}

/** Without the body of a method. */
function headOf(lines: readonly string[]): string {
  const end = lines.findIndex((line) => /^ {2}\S.*\{$/.test(line) && !/[:=] \{$/.test(line))
  return inOneLine((end === -1 ? lines : lines.slice(0, end + 1)).join('\n')).replace(/ \{$/, '')
}

function inOneLine(text: string): string {
  return text
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
    .replaceAll(/(?<=[\w'>)\]}])\n(?=\s*(?:readonly )?\w+\??[:(])/g, '; ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( /g, '(')
    .replaceAll(/,? \)/g, ')')
    .trim()
}

function toMember(text: string, comment: string): Member {
  const plain = text
    .replace(modifiers, '')
    .replace(/^(?<name>\w+)\(\): /, isGetter(text) ? '$<name>: ' : '$&')
  const [name = ''] = /^(?:\w+|'[^']*'|\[[^\]]*\])/.exec(plain) ?? []
  const rest = plain.slice(name.length)
  const says = wholeComment(comment)
  const mark = rest.startsWith('?') ? '?' : ''
  const afterMark = rest.slice(mark.length)
  if (!/^[<(]/.test(afterMark)) {
    const type = /^: (?<type>.*?)(?: = .*)?$/.exec(afterMark)?.groups?.type ?? ''
    return { name: name + mark, type, says }
  }
  const parameters = afterGenerics(afterMark)
  const result = parameters.slice(endOf(parameters, 0)).replace(/^: /, '')
  return { name: `${name}${mark}(${parameterNames(parameters)})`, type: result, says }
}

function isGetter(text: string): boolean {
  return /^(?:static |override )*get /.test(text)
}

function afterGenerics(text: string): string {
  return text.startsWith('<') ? text.slice(endOf(text, 0)) : text
}

/** Behind the bracket that closes the one at `start`; `=>` closes none. */
function endOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at)
    if ('<({['.includes(character)) depth += 1
    const closes = '>)}]'.includes(character) && !(character === '>' && text.charAt(at - 1) === '=')
    if (closes && (depth -= 1) === 0) return at + 1
  }
  return text.length
}

/** Names of the parameters in the brackets that a text begins with. */
function parameterNames(text: string): string {
  const inner = text.slice(1, endOf(text, 0) - 1)
  return splitAtCommas(inner).map(parameterName).join(', ')
}

function parameterName(parameter: string): string {
  const plain = inOneLine(parameter)
  const isOptional = /^[^:]*\?:?|^\{.*\}.* = |^\w+(?:: .*)? = /.test(plain)
  const name = /^(?:\.\.\.)?\w+/.exec(plain)?.[0] ?? 'options'
  return isOptional ? `${name}?` : name
}

function splitAtCommas(text: string): string[] {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    if ('<({['.includes(text.charAt(at))) at = endOf(text, at) - 1
    else if (text.charAt(at) === ',') {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)].filter((part) => part.trim() !== '')
}

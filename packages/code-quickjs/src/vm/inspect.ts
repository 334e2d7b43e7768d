/**
 * Values as a person reads them, written in the language of the interpreter: an expression that
 * gives `format(values)` and `plainJson(value)`. Bounded in depth, in entries and in length,
 * whatever getters, proxies and circles it meets.
 */
export const INSPECT_SOURCE = String.raw`
(() => {
const { stringify } = JSON
const { isArray } = Array
const { getPrototypeOf, getOwnPropertyDescriptor } = Object
const DEPTH = 6
const ENTRIES = 100
const LONGEST = 65536
const STRING = 10000
const LINE = 72
const JSON_DEPTH = 50
const JSON_VALUES = 100000

const quote = (text) => {
  const shown = text.length > STRING ? text.slice(0, STRING) + '…' : text
  return "'" + stringify(shown).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'") + "'"
}
const nameOf = (value) => {
  const name = getOwnPropertyDescriptor(value, 'name')?.value
  return typeof name === 'string' ? name : ''
}
const keyText = (key) =>
  typeof key === 'symbol' ? '[' + String(key) + ']' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
const wrap = (open, parts, close) => {
  if (parts.length === 0) return open + close
  const line = open + ' ' + parts.join(', ') + ' ' + close
  if (line.length <= LINE && !line.includes('\n')) return line
  return open + '\n' + parts.map((part) => '  ' + part.replaceAll('\n', '\n  ')).join(',\n') + '\n' + close
}
const more = (parts, total) =>
  total > ENTRIES ? [...parts, '… ' + (total - ENTRIES) + ' more'] : parts
const show = (value, state, depth) => {
  if (typeof value === 'string') return depth === 0 ? value : quote(value)
  if (typeof value === 'bigint') return value + 'n'
  if (typeof value === 'function') {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value))
    return '[' + (isClass ? 'class ' : 'Function: ') + (nameOf(value) || '(anonymous)') + ']'
  }
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  if (state.seen.has(value)) return '[Circular]'
  if (depth > DEPTH || state.length > LONGEST) return isArray(value) ? '[Array]' : '[Object]'
  state.seen.add(value)
  const shown = showObject(value, state, depth)
  state.seen.delete(value)
  state.length += shown.length
  return shown
}
const showObject = (value, state, depth) => {
  const inner = (part) => show(part, state, depth + 1)
  if (value instanceof Error) {
    const stack = String(value.stack ?? '').trimEnd()
    const head = value.name + ': ' + value.message
    return stack === '' || depth > 1 ? head : head + '\n' + stack
  }
  if (isArray(value)) return showList('', value, inner)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return showList(value.constructor.name + '(' + value.length + ') ', value, inner)
  }
  if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString()
  if (value instanceof RegExp) return String(value)
  if (value instanceof Promise) return 'Promise {}'
  if (value instanceof Map) {
    const pairs = []
    for (const [key, item] of value) {
      if (pairs.length >= ENTRIES) break
      pairs.push(inner(key) + ' => ' + inner(item))
    }
    return 'Map(' + value.size + ') ' + wrap('{', more(pairs, value.size), '}')
  }
  if (value instanceof Set) {
    const items = []
    for (const item of value) {
      if (items.length >= ENTRIES) break
      items.push(inner(item))
    }
    return 'Set(' + value.size + ') ' + wrap('{', more(items, value.size), '}')
  }
  const keys = Reflect.ownKeys(value)
  const parts = keys.slice(0, ENTRIES).flatMap((key) => {
    const found = getOwnPropertyDescriptor(value, key)
    if (found === undefined || !found.enumerable) return []
    const text = 'value' in found ? inner(found.value) : found.get ? '[Getter]' : '[Setter]'
    return [keyText(key) + ': ' + text]
  })
  const owner = getPrototypeOf(value)
  const name = owner === null ? '[Object: null prototype]' : nameOf(owner.constructor ?? Object)
  return (name === 'Object' || name === '' ? '' : name + ' ') + wrap('{', more(parts, keys.length), '}')
}
const showList = (name, list, inner) => {
  const parts = []
  for (let i = 0; i < list.length && i < ENTRIES; i += 1) parts.push(i in list ? inner(list[i]) : '<empty>')
  return name + wrap('[', more(parts, list.length), ']')
}
const one = (value, depth) => {
  try {
    return show(value, { seen: new Set(), length: 0 }, depth)
  } catch (error) {
    return '[' + typeof value + ' that cannot be shown]'
  }
}
const DIRECTIVES = {
  s: (value) => (typeof value === 'string' ? value : one(value, 1)), d: (value) => String(Number(value)),
  i: (value) => String(parseInt(value)), f: (value) => String(parseFloat(value)),
  j: (value) => stringify(value), o: (value) => one(value, 1), O: (value) => one(value, 1),
}
const format = (values) => {
  const [first, ...rest] = values
  if (typeof first !== 'string' || rest.length === 0 || !first.includes('%')) {
    return values.map((value) => one(value, 0)).join(' ')
  }
  const head = first.replace(/%([sdifjoO%])/g, (all, letter) =>
    letter === '%' ? '%' : rest.length === 0 ? all : DIRECTIVES[letter](rest.shift()))
  return [head, ...rest.map((value) => one(value, 0))].join(' ')
}
let checked = 0
const isPlain = (value, depth) => {
  checked += 1
  if (checked > JSON_VALUES) return false
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > JSON_DEPTH) return false
  const owner = getPrototypeOf(value)
  if (isArray(value)) return value.every((item) => isPlain(item, depth + 1))
  if (owner !== Object.prototype && owner !== null) return false
  return Object.keys(value).every((key) => {
    const found = getOwnPropertyDescriptor(value, key)
    return found !== undefined && 'value' in found && key !== 'toJSON' && key !== '__proto__' &&
      (found.value === undefined || isPlain(found.value, depth + 1))
  })
}
const plainJson = (value) => {
  checked = 0
  try {
    return isPlain(value, 0) ? stringify(value) : undefined
  } catch {
    return undefined
  }
}
return { format, plainJson }
})()
`

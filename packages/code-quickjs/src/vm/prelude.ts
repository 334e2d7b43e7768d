import { INSPECT_SOURCE } from './inspect.ts'

/**
 * What code finds in its globals, written in the language of the interpreter. A function of the
 * host's few entries; what it returns is kept by the session and never reachable for code. It runs
 * before any code does, so that code which changes a built-in disturbs only itself.
 */
export const PRELUDE_SOURCE = String.raw`
(host) => {
'use strict'
const { stringify, parse } = JSON
const { isArray } = Array
const inspect = (${INSPECT_SOURCE})
const define = (name, value) =>
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })

const failure = (text) => {
  const { name, code, message } = parse(text)
  return Object.assign(new Error(message), { code, kind: name })
}
const call = async (op, args, data) => {
  try {
    const isText = typeof data === 'string'
    const found = await host.call(op, stringify(args), isText ? stringify(data) : data)
    return typeof found === 'string' ? parse(found) : found
  } catch (text) {
    throw typeof text === 'string' ? failure(text) : text
  }
}
const contentOf = (data) => {
  if (typeof data === 'string') return data
  if (data instanceof ArrayBuffer) return data
  if (ArrayBuffer.isView(data)) {
    return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
  }
  throw new TypeError('file content is a string, an ArrayBuffer or a typed array')
}
const pathOf = (path) => {
  if (typeof path === 'string') return path
  throw new TypeError('a path is a string')
}
const isText = (given) => {
  const encoding = typeof given === 'string' ? given : given?.encoding
  if (encoding === undefined || encoding === null) return false
  if (/^utf-?8$/i.test(encoding)) return true
  throw new TypeError('the only encoding of files here is utf8')
}
const statOf = ({ type, size, mtimeMs }) => {
  const is = (wanted) => () => type === wanted
  return {
    type, size, mtimeMs, mtime: new Date(mtimeMs),
    isFile: is('file'), isDirectory: is('directory'), isSymbolicLink: is('symlink'),
  }
}
const files = {
  async readFile(path, options) {
    const text = isText(options)
    const found = await call('readFile', [pathOf(path), text])
    return text ? found : new Uint8Array(found)
  },
  writeFile: (path, data) => call('writeFile', [pathOf(path)], contentOf(data)),
  appendFile: (path, data) => call('appendFile', [pathOf(path)], contentOf(data)),
  async readdir(path, options) {
    const entries = await call('readdir', [pathOf(path ?? '/')])
    if (!options?.withFileTypes) return entries.map(({ name }) => name)
    return entries.map(({ name, type }) => ({
      name, parentPath: path,
      isFile: () => type === 'file', isDirectory: () => type === 'directory',
      isSymbolicLink: () => type === 'symlink',
    }))
  },
  stat: async (path) => statOf(await call('stat', [pathOf(path)])),
  mkdir: (path, options) => call('mkdir', [pathOf(path), options?.recursive === true]),
  async rm(path, options) {
    try {
      await call('rm', [pathOf(path), options?.recursive === true])
    } catch (error) {
      if (!(options?.force && error?.code === 'ENOENT')) throw error
    }
  },
  unlink: (path) => call('rm', [pathOf(path), false]),
  rename: (from, to) => call('rename', [pathOf(from), pathOf(to)]),
  copyFile: (from, to) => call('copyFile', [pathOf(from), pathOf(to)]),
  access: async (path) => void (await call('stat', [pathOf(path)])),
  async exists(path) {
    try {
      await call('stat', [pathOf(path)])
      return true
    } catch (error) {
      if (error?.code === 'ENOENT') return false
      throw error
    }
  },
  glob: async (pattern) => call('glob', [pathOf(pattern)]),
}
for (const name of ['readFile', 'writeFile', 'appendFile', 'readdir', 'stat', 'mkdir', 'rm',
  'exists', 'unlink', 'rename', 'copyFile', 'access']) {
  files[name + 'Sync'] = () => {
    throw new Error('fs.' + name + 'Sync is not here: use await fs.' + name)
  }
}
Object.defineProperty(files, 'promises', { value: files })
define('fs', files)
const modules = new Map(['fs', 'fs/promises'].flatMap((name) => [[name, files], ['node:' + name, files]]))
const load = (name) => {
  if (modules.has(name)) return modules.get(name)
  throw new Error('there is no module ' + stringify(String(name)) +
    ' here: fs is the only one; read other code with fs.readFile')
}
define('require', load)

const text = (values) => inspect.format(values)
const to = (stream) => (...values) => host.emit(stream, stringify(text(values) + '\n'))
const [log, warn] = [to('stdout'), to('stderr')]
define('console', {
  log, info: log, debug: log, error: warn, warn, trace: warn, dir: (value) => log(value),
  table: (value) => log(value),
  assert: (holds, ...values) => {
    if (!holds) warn('Assertion failed' + (values.length > 0 ? ':' : ''), ...values)
  },
})

// Shows what is given as an object of formats, such as { png: '<base64>' }.
const FORMATS = new Map([
  ['png', 'image/png'], ['jpeg', 'image/jpeg'], ['svg', 'image/svg+xml'], ['html', 'text/html'],
  ['markdown', 'text/markdown'], ['latex', 'text/latex'], ['json', 'application/json'],
  ['text', 'text/plain'],
])
define('display', (formats) => {
  const isObject = typeof formats === 'object' && formats !== null && !isArray(formats)
  const known = isObject ? Object.keys(formats).filter((name) => FORMATS.has(name)) : []
  if (known.length === 0) return host.show('text/plain', stringify(inspect.format([formats])))
  for (const name of known) {
    const value = formats[name]
    const isPlain = typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value)
    const content = isPlain ? contentOf(value) : stringify(value)
    host.show(FORMATS.get(name), typeof content === 'string' ? stringify(content) : content)
  }
})

class TextEncoder {
  get encoding() { return 'utf-8' }
  encode(text = '') { return new Uint8Array(host.encode(stringify(String(text)))) }
}
class TextDecoder {
  get encoding() { return 'utf-8' }
  decode(data) { return data === undefined ? '' : parse(host.decode(contentOf(data))) }
}
define('TextEncoder', TextEncoder)
define('TextDecoder', TextDecoder)

const OWN_FRAME = /^\s+at .*\(?helix:/
const textOf = (read) => {
  try {
    return String(read())
  } catch {
    return ''
  }
}
const errorOf = (error) => {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: textOf(() => inspect.format([error])) }
  }
  const name = textOf(() => error.name) || 'Error'
  const message = textOf(() => error.message)
  const frames = textOf(() => error.stack).split('\n')
    .filter((line) => line.trim() !== '' && !OWN_FRAME.test(line)).slice(0, 50)
  const trace = [name + ': ' + message, ...frames].join('\n')
  return { name, message, ...(frames.length > 0 && { trace }) }
}
const report = (error) => stringify({ error: errorOf(error) })
const resultOf = (value) => {
  if (value === undefined) return {}
  const plain = inspect.plainJson(value)
  return plain === undefined ? { text: inspect.format([value]) } : { json: plain }
}
return {
  report,
  settle: async (running) => {
    try {
      const { value } = await running
      return stringify(resultOf(await value))
    } catch (error) {
      return report(error)
    }
  },
  begin: () => {
    define('exports', {})
    define('module', { exports: globalThis.exports })
  },
}
}
`

/**
 * The JavaScript of a context, by Node: as `PYTHON_PROGRAM`. Code runs as in a console, so a name may be
 * declared again and `await` stands anywhere.
 */
export const JAVASCRIPT_PROGRAM = String.raw`
// In a function: names at the top would be names of the code as well.
void (() => {
const load = require
const fs = load('fs')
const inspector = load('inspector')
const { createRequire } = load('module')
const { Socket } = load('net')
const { inspect } = load('util')

const LONGEST = 900000
const channel = new Socket({ fd: 4, readable: true, writable: true })
let mark = ''
const send = (kind, text) => {
  if (mark !== '') channel.write(mark + ' ' + kind + ' ' + text + '\n')
}
const emit = (event) => {
  const text = JSON.stringify(event)
  if (text.length <= LONGEST) return send('J', text)
  send('J', JSON.stringify({ ...event, json: undefined, text: String(event.text).slice(0, 500000) }))
}
const isPlain = (value, depth = 0) => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > 50) return false
  const owner = Object.getPrototypeOf(value)
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1))
  if (owner !== Object.prototype && owner !== null) return false
  return Object.values(value).every((item) => item === undefined || isPlain(item, depth + 1))
}
const jsonOf = (value) => {
  try {
    return isPlain(value) ? JSON.parse(JSON.stringify(value)) : undefined
  } catch {
    return undefined
  }
}
const take = (value) => {
  if (value === undefined) return
  const json = jsonOf(value)
  emit({ type: 'result', text: inspect(value).slice(0, 500000), ...(json !== undefined && { json }) })
}
const OWN_FRAME = /^\s+at (?:new Promise \(<anonymous>\)|.*(?:node:in|\[eval\d*\]))/
const report = (error) => {
  const isError = error instanceof Error
  const stack = isError ? String(error.stack) : inspect(error)
  const trace = stack.split('\n').filter((line) => !OWN_FRAME.test(line)).join('\n').slice(0, 20000)
  const message = (isError ? String(error.message) : stack).slice(0, 20000)
  emit({ type: 'error', name: isError ? String(error.name) : 'Error', message, trace })
}

// Shows what is given as an object of formats, such as { png: '<base64>' }.
const FORMATS = new Map([
  ['png', 'image/png'], ['jpeg', 'image/jpeg'], ['svg', 'image/svg+xml'], ['html', 'text/html'],
  ['markdown', 'text/markdown'], ['latex', 'text/latex'], ['json', 'application/json'], ['text', 'text/plain'],
])
globalThis.display = (formats) => {
  const isObject = typeof formats === 'object' && formats !== null
  const known = isObject ? Object.keys(formats).filter((name) => FORMATS.has(name)) : []
  if (known.length === 0) return send('D', 'text/plain ' + Buffer.from(inspect(formats)).toString('base64'))
  for (const name of known) {
    const value = formats[name]
    const isBase64 = typeof value === 'string' && (name === 'png' || name === 'jpeg')
    const bytes = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value)
    send('D', FORMATS.get(name) + ' ' + (isBase64 ? value.replace(/\s/g, '') : Buffer.from(bytes).toString('base64')))
  }
}
const session = new inspector.Session()
session.connect()
const post = (method, given) =>
  new Promise((resolve, reject) => {
    session.post(method, given, (error, result) => (error ? reject(error) : resolve(result)))
  })
const hand = async (remote, receiver) => {
  globalThis.__helix_receiver = receiver
  const { result } = await post('Runtime.evaluate', { expression: 'globalThis.__helix_receiver' })
  delete globalThis.__helix_receiver
  const argument = 'objectId' in remote ? { objectId: remote.objectId }
    : 'unserializableValue' in remote ? { unserializableValue: remote.unserializableValue }
    : { value: remote.value }
  await post('Runtime.callFunctionOn', {
    objectId: result.objectId,
    functionDeclaration: 'function (value) { this(value) }',
    arguments: [remote.type === 'undefined' ? {} : argument],
  })
}
const attempt = async (expression) => {
  let status = 0
  const fail = (error) => {
    status = 1
    report(error)
  }
  try {
    const { result, exceptionDetails } = await post('Runtime.evaluate', {
      expression, replMode: true, awaitPromise: true, includeCommandLineAPI: false,
    })
    if (exceptionDetails === undefined) await hand(result, take)
    else await hand(exceptionDetails.exception, fail)
  } catch (error) {
    fail(error)
  }
  return status
}
const written = (stream, text) =>
  new Promise((resolve) => {
    try {
      stream.write(text, resolve)
    } catch {
      resolve()
    }
  })
const [stdout, stderr] = [process.stdout, process.stderr]
const finish = async (status) => {
  await written(stdout, '\x1e' + mark + '\x1e')
  await written(stderr, '\x1e' + mark + '\x1e')
  emit({ type: 'done', status })
}
globalThis.require = createRequire(process.cwd() + '/')
process.on('uncaughtException', report)
let pending = Buffer.alloc(0)
let isBusy = false
const next = async () => {
  const first = pending.indexOf(0)
  const second = first < 0 ? -1 : pending.indexOf(0, first + 1)
  if (isBusy || second < 0) return
  isBusy = true
  mark = pending.subarray(0, first).toString()
  const code = pending.subarray(first + 1, second).toString()
  pending = pending.subarray(second + 1)
  await finish(await attempt(code))
  isBusy = false
  void next()
}
channel.on('data', (piece) => {
  pending = Buffer.concat([pending, piece])
  void next()
})
channel.on('end', () => process.exit())
})()
`

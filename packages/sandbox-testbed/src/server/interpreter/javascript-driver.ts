/**
 * The program of a JavaScript or TypeScript context: takes one JSON line for each run on
 * descriptor 3 and answers with one JSON line for each output on descriptor 4. Code runs as in a
 * console, so a name may be declared again and `await` stands anywhere.
 */
export const JAVASCRIPT_DRIVER = String.raw`
import { writeSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { Socket } from 'node:net'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'

const emit = (event) => {
  const bytes = Buffer.from(JSON.stringify(event) + '\n')
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(4, bytes, sent)
}
const capture = (stream, type) => {
  stream.write = (chunk, encoding, callback) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    if (text !== '') emit({ type, text })
    const done = typeof encoding === 'function' ? encoding : callback
    if (typeof done === 'function') queueMicrotask(done)
    return true
  }
}
const isPlain = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
const asJson = (value) => {
  try {
    return isPlain(value) ? { json: JSON.parse(JSON.stringify(value)) } : {}
  } catch {
    return {}
  }
}
const take = (value) => {
  if (value !== undefined) emit({ type: 'result', text: inspect(value), ...asJson(value) })
}
const OWN_FRAME = /^\s+at (?:new Promise \(<anonymous>\)|.*(?:node:in|\[eval1\]))/
const report = (error) => {
  const isError = error instanceof Error
  const stack = isError ? String(error.stack) : inspect(error)
  const lines = stack.split('\n').filter((line) => !OWN_FRAME.test(line))
  const name = isError ? error.name : 'Error'
  const message = isError ? error.message : stack
  emit({ type: 'error', name, message, traceback: lines })
}

try {
  process.chdir(process.env.HELIX_CONTEXT_CWD)
} catch {
  process.chdir(homedir())
}
delete process.env.HELIX_CONTEXT_CWD
process.on('uncaughtException', report)
globalThis.require = createRequire(process.cwd() + '/')
// Shows what is given as an object of formats, such as { png: '<base64>' }.
globalThis.display = (formats) => emit({ type: 'result', ...(isPlain(formats) ? formats : { text: inspect(formats) }) })
const session = new Session()
session.connect()
const hand = async (remote, receiver) => {
  globalThis.__sandbox_receiver = receiver
  const expression = 'globalThis.__sandbox_receiver'
  const { result } = await session.post('Runtime.evaluate', { expression })
  delete globalThis.__sandbox_receiver
  const argument = 'objectId' in remote ? { objectId: remote.objectId }
    : 'unserializableValue' in remote ? { unserializableValue: remote.unserializableValue }
    : { value: remote.value }
  await session.post('Runtime.callFunctionOn', {
    objectId: result.objectId,
    functionDeclaration: 'function (value) { this(value) }',
    arguments: [remote.type === 'undefined' ? {} : argument],
  })
}
const plainSource = (code) => {
  try {
    return stripTypeScriptTypes(code, { mode: 'transform' })
  } catch (error) {
    if (error?.code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') throw error
    return stripTypeScriptTypes(code)
  }
}
const run = async (code, language) => {
  const expression = language === 'typescript' ? plainSource(code) : code
  const { result, exceptionDetails } = await session.post('Runtime.evaluate', {
    expression, replMode: true, awaitPromise: true, includeCommandLineAPI: false,
  })
  if (exceptionDetails === undefined) await hand(result, take)
  else await hand(exceptionDetails.exception, report)
}

capture(process.stdout, 'stdout')
capture(process.stderr, 'stderr')
emit({ type: 'ready' })
let count = 0
for await (const line of createInterface({ input: new Socket({ fd: 3 }) })) {
  const { code, language } = JSON.parse(line)
  count += 1
  try {
    await run(code, language)
  } catch (error) {
    report(error)
  }
  emit({ type: 'end', executionCount: count })
}
`

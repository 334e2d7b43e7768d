/**
 * The program of a JavaScript or TypeScript executor: a request a line on stdin, a reply a line on
 * stdout, the same that the code sees. What goes through the console is collected and comes with the
 * reply. It catches SIGTERM, as the real one does, which code that never yields keeps it from seeing.
 */
export const JAVASCRIPT_EXECUTOR = String.raw`
import { Session } from 'node:inspector/promises'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { createInterface } from 'node:readline'
import { format, inspect } from 'node:util'

process.on('SIGTERM', () => process.exit(0))
let said = { stdout: '', stderr: '' }
let outputs = []
const print = (name) => (...values) => { said[name] += format(...values) + '\n' }
for (const name of ['log', 'info', 'debug']) console[name] = print('stdout')
for (const name of ['error', 'warn', 'trace']) console[name] = print('stderr')
globalThis.require = createRequire('/workspace/')
const isPlain = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
const take = (value) => {
  if (value !== undefined) outputs.push({ text: inspect(value), ...(isPlain(value) && { json: value }) })
}
const session = new Session()
session.connect()
const hand = async (remote, receiver) => {
  globalThis.__receiver = receiver
  const { result } = await session.post('Runtime.evaluate', { expression: 'globalThis.__receiver' })
  delete globalThis.__receiver
  const argument = 'objectId' in remote ? { objectId: remote.objectId }
    : 'unserializableValue' in remote ? { unserializableValue: remote.unserializableValue }
    : { value: remote.value }
  await session.post('Runtime.callFunctionOn', {
    objectId: result.objectId,
    functionDeclaration: 'function (value) { this(value) }',
    arguments: [remote.type === 'undefined' ? {} : argument],
  })
}
const tell = (error) => ({
  name: error?.name ?? 'Error',
  message: error?.message ?? inspect(error),
  traceback: String(error?.stack ?? inspect(error)).split('\n'),
})
const run = async (code, language) => {
  const expression = language === 'typescript' ? stripTypeScriptTypes(code, { mode: 'transform' }) : code
  const { result, exceptionDetails } = await session.post('Runtime.evaluate', {
    expression, replMode: true, awaitPromise: true, includeCommandLineAPI: false,
  })
  if (exceptionDetails === undefined) return hand(result, take)
  let thrown
  await hand(exceptionDetails.exception, (error) => { thrown = tell(error) })
  return thrown
}
const reply = (message) => process.stdout.write(JSON.stringify(message) + '\n')
reply({ ready: true })
let count = 0
for await (const line of createInterface({ input: process.stdin })) {
  const { id, code, language } = JSON.parse(line)
  count += 1
  said = { stdout: '', stderr: '' }
  outputs = []
  const error = await run(code, language).catch(tell)
  reply({ id, ...said, outputs, error: error ?? null, count })
}
`

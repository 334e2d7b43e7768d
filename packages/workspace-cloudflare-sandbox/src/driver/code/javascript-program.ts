/**
 * The JavaScript and TypeScript of a code run, by Node: as `PYTHON_PROGRAM`. Code runs as in a console,
 * so a name may be declared again and `await` stands anywhere. Types are taken away by Node, or by Bun
 * where Node cannot.
 */
export const JAVASCRIPT_PROGRAM = String.raw`
// In a function: names at the top would be names of the code as well.
void (() => {
const load = require
const { spawnSync } = load('child_process')
const fs = load('fs')
const inspector = load('inspector')
const modules = load('module')
const { Socket } = load('net')
const { createInterface } = load('readline')
const { inspect } = load('util')

const MARKS = 2000
const UNSETTLED = 13
let events = 3
let marks = 0
let last

const emit = (event) => {
  if (events < 0) return
  const at = [1, 2].map((number) => fs.fstatSync(number).size)
  const bytes = Buffer.from(JSON.stringify({ ...event, at }) + '\n')
  for (let sent = 0; sent < bytes.length; ) sent += fs.writeSync(events, bytes, sent)
}
for (const name of ['stdout', 'stderr']) {
  const stream = process[name]
  const write = stream.write.bind(stream)
  stream.write = (...given) => {
    if (last !== name && last !== undefined && marks < MARKS) {
      marks += 1
      emit({ type: 'mark' })
    }
    last = name
    return write(...given)
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
const OWN_FRAME = /^\s+at (?:new Promise \(<anonymous>\)|.*(?:node:in|\[eval\d*\]))/
const report = (error) => {
  const isError = error instanceof Error
  const stack = isError ? String(error.stack) : inspect(error)
  const traceback = stack.split('\n').filter((line) => !OWN_FRAME.test(line))
  const name = isError ? error.name : 'Error'
  emit({ type: 'error', name, message: isError ? error.message : stack, traceback })
}

// Shows what is given as an object of formats, such as { png: '<base64>' }.
globalThis.display = (formats) =>
  emit({ type: 'result', ...(isPlain(formats) ? formats : { text: inspect(formats) }) })
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
const BUN = 'const o = { loader: "ts", deadCodeElimination: false, trimUnusedImports: false };' +
  'process.stdout.write(new Bun.Transpiler(o).transformSync(await Bun.stdin.text()))'
const byBun = (code) => {
  const { status, stdout, stderr } = spawnSync('bun', ['-e', BUN], { input: code, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new SyntaxError(String(stderr).trim())
}
const plainSource = (code) => {
  const { stripTypeScriptTypes: strip } = modules
  if (strip === undefined) return byBun(code)
  try {
    return strip(code, { mode: 'transform' })
  } catch (error) {
    if (error?.code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') throw error
    return strip(code)
  }
}
const speaksTypes = () =>
  modules.stripTypeScriptTypes !== undefined || spawnSync('bun', ['--version']).status === 0
const attempt = async (code, language) => {
  let status = 0
  const fail = (error) => {
    status = 1
    report(error)
  }
  try {
    const expression = language === 'typescript' ? plainSource(code) : code
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
const begin = () => {
  globalThis.require = modules.createRequire(process.cwd() + '/')
}

const once = async (language, kind, value) => {
  const code = kind === 'file' ? fs.readFileSync(value, 'utf8') : value
  if (kind === 'file') fs.unlinkSync(value)
  begin()
  process.on('uncaughtException', (error) => {
    report(error)
    process.exit(1)
  })
  let isOver = false
  // Nothing is left to do.
  process.on('beforeExit', () => {
    if (isOver) return
    const message = 'the code awaits what nothing is left to settle'
    emit({ type: 'error', name: 'UnsettledPromise', message, traceback: [] })
    process.exit(UNSETTLED)
  })
  const status = await attempt(code, language)
  isOver = true
  if (status !== 0) process.exit(status)
}

const isHere = (path) => {
  try {
    const [one, other] = [fs.statSync(path), fs.statSync('.')]
    return one.dev === other.dev && one.ino === other.ino
  } catch {
    return false
  }
}
const goTo = (path) => {
  try {
    process.chdir(path)
    return true
  } catch {
    return false
  }
}
// Goes where it was, when something else has that name by now.
const findWay = (known) => known.some((path) => isHere(path) || goTo(path))
// By the name that it was given, where that is a link as well.
const here = (given) => {
  if (isHere(given)) return given
  try {
    return process.cwd()
  } catch {
    return given
  }
}
// The lowest free number is taken: the one that was just given up.
const put = (number, path) => {
  fs.closeSync(number)
  const opened = fs.openSync(path, 'a')
  if (opened !== number) throw new Error('descriptor ' + number + ' was taken')
}
const serve = async (language, home, given) => {
  let was = given
  const done = fs.openSync(home + '/done', 'r+')
  const requests = new Socket({ fd: fs.openSync(home + '/in', 'r+'), writable: false })
  events = -1
  begin()
  process.on('uncaughtException', report)
  fs.writeSync(done, 'ready 0\n')
  for await (const line of createInterface({ input: requests })) {
    const [mark, client] = line.split(' ')
    put(1, '/proc/' + client + '/fd/4')
    put(2, '/proc/' + client + '/fd/5')
    events = fs.openSync('/proc/' + client + '/fd/6', 'a')
    marks = 0
    last = undefined
    findWay([was, given])
    const status = await attempt(fs.readFileSync(home + '/code', 'utf8'), language)
    was = here(given)
    put(1, home + '/out')
    put(2, home + '/err')
    fs.closeSync(events)
    events = -1
    fs.writeSync(done, mark + ' ' + status + '\n')
  }
}

const [mode, language, ...given] = process.argv.slice(1)
if (language === 'typescript' && !speaksTypes()) {
  if (mode === 'once') emit({ type: 'absent', program: 'bun' })
  else fs.writeFileSync(given[0] + '/absent', 'bun')
  process.exit(127)
}
if (mode === 'serve') serve(language, ...given)
else once(language, ...given)
})()
`

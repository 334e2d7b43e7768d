// The thread in which scripts of one workspace run, one at a time. It imports nothing but what it
// needs: it starts with the first command.
import { parentPort } from 'node:worker_threads'
import { executeScript, type JustBash } from '../script/execute-script.ts'
import type { Script } from '../script/script.ts'
import { lockDown } from './lock-down.ts'
import type { FromThread, ToThread } from './protocol.ts'
import { ThreadHost } from './thread-host.ts'

const port = parentPort
if (port === null) throw new Error('this file is started as a thread')
const send = (message: FromThread): void => port.postMessage(message)

const justBash: JustBash = await import('just-bash')
lockDown()

let host = new ThreadHost(port)
let controller = new AbortController()

async function run(script: Script): Promise<void> {
  host = new ThreadHost(port ?? unreachable())
  controller = new AbortController()
  try {
    const { signal } = controller
    const end = await executeScript(justBash, script, { host, signal, isShared: false })
    await host.flush()
    send({ type: 'end', end })
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
}

function unreachable(): never {
  throw new Error('no port')
}

port.on('message', (message: ToThread) => {
  if (message.type === 'run') void run(message.script)
  else if (message.type === 'abort') controller.abort(new Error('ended'))
  else if (message.type === 'reply') host.resolve(message.id, message.value)
  else host.reject(message.id, message.error)
})
send({ type: 'ready' })

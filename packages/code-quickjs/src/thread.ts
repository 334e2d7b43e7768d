// What a thread of the engine runs: one session at a time. Messages are its only way out.
import { parentPort, workerData } from 'node:worker_threads'
import type { FileReply, SessionHost, SessionOutput } from './protocol.ts'
import type { FromThread, ThreadData, ToThread } from './seat/thread-messages.ts'
import { QuickJsSession } from './vm/session.ts'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by the pool
const { wasm, abort, limits } = workerData as ThreadData
const flag = new Int32Array(abort)
const replies = new Map<number, PromiseWithResolvers<FileReply>>()
let calls = 0
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const post = (message: FromThread): void => parentPort?.postMessage(message)

const postReady = (): void => post({ type: 'ready' })

/** Made before it is needed, so that a run starts at once. */
let session = newSession()

const host: SessionHost = {
  isAborted: () => Atomics.load(flag, 0) === 1,
  onOutputs: (outputs: readonly SessionOutput[]) => post({ type: 'outputs', outputs }),
  callFile: (call) => {
    calls += 1
    const waiting = Promise.withResolvers<FileReply>()
    replies.set(calls, waiting)
    post({ type: 'call', id: calls, call })
    return waiting.promise
  },
}

function newSession(): Promise<QuickJsSession> {
  const made = QuickJsSession.create(wasm, limits)
  // The run that needs it says what failed.
  void made.then(postReady, postReady)
  return made
}

async function run({ request }: Extract<ToThread, { type: 'run' }>): Promise<void> {
  try {
    const current = await session
    const outcome = await current.run(request, host)
    post({ type: 'done', outcome, heldBytes: current.heldBytes })
  } catch (error) {
    const message = `the interpreter did not start: ${String(error)}`
    const outcome = { ended: 'crashed', error: { name: 'InternalError', message } } as const
    post({ type: 'done', outcome, heldBytes: 0 })
  }
}

function answer({ id, reply }: Extract<ToThread, { type: 'reply' }>): void {
  replies.get(id)?.resolve(reply)
  replies.delete(id)
}

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'run') void run(message)
  else if (message.type === 'reply') answer(message)
  else {
    session = newSession()
    replies.clear()
  }
})

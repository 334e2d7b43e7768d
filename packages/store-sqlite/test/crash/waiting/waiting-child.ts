// The process that is killed: goes on with the session from wherever it stands, answers what is
// asked, and says at how many points it could have died.
import { appendFileSync } from 'node:fs'
import { AgentAlreadyRunningError, type Clock, systemClock } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { watchStore } from '../watched-stores.ts'
import {
  ANSWERS,
  createWaitingAgent,
  MESSAGES,
  SESSION,
  waitingModel,
  type WaitingTask,
} from './waiting-session.ts'

const task = JSON.parse(process.argv[2] ?? '') as WaitingTask
let [points, effects] = [0, 0]
const die = (): void => void process.kill(process.pid, 'SIGKILL')
const onPoint = (): void => {
  points += 1
  if (points === task.dieAtPoint) die()
}

const clock: Clock = { ...systemClock, now: () => systemClock.now() + task.clockAheadMs }
const { stateStore, streamManager, close } = await openSqliteStores(task.database, { clock })
const agent = createWaitingAgent((input) => {
  onPoint()
  appendFileSync(task.effectLog, `${JSON.stringify(input)}\n`)
  effects += 1
  if (effects === task.dieAfterEffects) die()
  onPoint()
})
const watched = watchStore(stateStore, onPoint, task.sabotage)
const executor = new JSAgentExecutor(watched, streamManager, waitingModel, { clock })

/** One thing that a host does with the session it finds; whether there is more to do. */
async function goOn(): Promise<boolean> {
  const session = await stateStore.loadSession(SESSION)
  if (session === null || session.messageCount === 0) {
    await (await executor.execute(agent, 'go', { sessionId: SESSION })).result()
    return true
  }
  if (session.status === 'completed') return recoverQueued()
  const [open] = (await executor.listRequests({ sessionId: SESSION, state: 'open' })).items
  if (session.status !== 'waiting' || open === undefined) {
    await (await executor.resume(agent, SESSION)).result()
    return true
  }
  if (task.isAlone === true) die()
  const { id } = JSON.parse(open.arguments) as { readonly id: string }
  if (id === 'approved') await sendAll()
  const response = ANSWERS[id]
  if (response === undefined) throw new Error(`no answer for ${id}`)
  const { handle } = await executor.respond(agent, SESSION, open.requestId, response)
  await handle?.result()
  return true
}

/** A message for the next turn may have come when no process was left to start it. */
async function recoverQueued(): Promise<boolean> {
  const left = await stateStore.listQueuedMessages(SESSION)
  if (left.length === 0) return false
  const recovery = await executor.recover(agent, SESSION)
  if (recovery.outcome === 'resumed') await recovery.handle.result()
  return true
}

/** Again after a kill: an id is stored once. */
async function sendAll(): Promise<void> {
  for (const { text, ...options } of MESSAGES) {
    await (await executor.send(agent, SESSION, text, options)).handle?.result()
  }
}

/** The executor starts the next turn by itself, for a message or an answer that came meanwhile. */
async function goOnOrWait(): Promise<boolean> {
  try {
    return await goOn()
  } catch (error) {
    if (!AgentAlreadyRunningError.isInstance(error)) throw error
    await (await executor.getHandle(agent, SESSION))?.result()
    return true
  }
}

for (let turns = 0; await goOnOrWait(); turns += 1)
  if (turns > 50) throw new Error('it does not end')
await close()
// How many points a process passes depends on its time: at the end it dies all the same.
if (task.dieAtPoint !== undefined) die()
process.stdout.write(JSON.stringify({ points, effects }))

// The process that is killed: goes on with the session from wherever it stands, answers what is
// asked, and says at how many points it could have died.
import { appendFileSync } from 'node:fs'
import { type Clock, systemClock } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { watchStore } from '../watched-stores.ts'
import {
  ANSWERS,
  createWaitingAgent,
  SESSION,
  waitingModel,
  type WaitingTask,
} from './waiting-session.ts'

const task = JSON.parse(process.argv[2] ?? '') as WaitingTask
let points = 0
const effectPoints: number[] = []
const onPoint = (): void => {
  points += 1
  if (points === task.dieAtPoint) process.kill(process.pid, 'SIGKILL')
}

const clock: Clock = { ...systemClock, now: () => systemClock.now() + task.clockAheadMs }
const { stateStore, streamManager, close } = await openSqliteStores(task.database, { clock })
const agent = createWaitingAgent((input) => {
  onPoint()
  appendFileSync(task.effectLog, `${JSON.stringify(input)}\n`)
  onPoint()
  effectPoints.push(points)
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
  if (session.status === 'completed') return false
  const [open] = (await executor.listRequests({ sessionId: SESSION, state: 'open' })).items
  if (session.status !== 'waiting' || open === undefined) {
    await (await executor.resume(agent, SESSION)).result()
    return true
  }
  const { id } = JSON.parse(open.arguments) as { readonly id: string }
  const response = ANSWERS[id]
  if (response === undefined) throw new Error(`no answer for ${id}`)
  const { handle } = await executor.respond(agent, SESSION, open.requestId, response)
  await handle?.result()
  return true
}

for (let turns = 0; await goOn(); turns += 1) if (turns > 50) throw new Error('it does not end')
await close()
process.stdout.write(JSON.stringify({ points, effectPoints }))

// Writes to the stream `s` of a file: node writer-child.ts <path> start|resume <label> [count].
// Without a count until it is killed; with one, it ends the run.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSqliteStores } from '@helix-agents/store-sqlite'

const [path = '', mode, label = '', count] = process.argv.slice(2)
const stores = await openSqliteStores(path)
const { streamManager } = stores
const writer =
  mode === 'start'
    ? await streamManager.startRun('s', label, 'a')
    : await streamManager.resumeRun('s', label, 'a')
process.stdout.write('writing\n')

const limit = count === undefined ? Number.MAX_SAFE_INTEGER : Number(count)
let written = 0
while (true) {
  // Bursts of one to seven chunks, so that some transactions have many and some have one.
  const size = Math.min(1 + (written % 7), limit - written)
  if (size === 0) break
  const burst = Array.from({ length: size }, () => {
    const delta = `${label} ${written++}`
    return writer.write({ type: 'text_delta', agentId: label, agentType: 'a', timestamp: 1, delta })
  })
  await Promise.all(burst)
  await nextTurn()
}
await streamManager.endRun('s', label)
await stores.close()

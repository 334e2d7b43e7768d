// Plays the story of README.md in a folder of its own. With --serve it goes on until Ctrl+C, with
// the API and the dashboard.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFleetTimer } from '@helix-agents/sandbox-fleet'
import { fastClock } from './fast-clock.ts'
import { openFleet } from './open-fleet.ts'
import { Operator } from './operator.ts'
import { Story } from './story.ts'

const PORT = 8790
const isServing = process.argv.includes('--serve')
const stopped = Promise.withResolvers<void>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopped.resolve)

const folder = mkdtempSync(join(tmpdir(), 'helix-fleet-'))
const startedAt = Date.now()
const place = { folder, startedAt }
const { close, fleet, inventory } = await openFleet(place)
const clock = fastClock(startedAt)
const port = isServing ? Number(process.env.PORT ?? PORT) : 0
const operator = await Operator.serve(fleet, { clock, port }).catch(async (error: unknown) => {
  await close()
  rmSync(folder, { recursive: true, force: true })
  console.error(`port ${port} cannot be used, PORT=0 chooses one:`, String(error))
  process.exit(1)
})
const tell = (line: string): void => console.log(line)
const story = new Story({ place, fleet, inventory, operator, tell })
try {
  if (isServing) tell(`${operator.url}/ is the dashboard; its token is ${operator.token}\n`)
  const isPlayed = await Promise.race([story.play().then(() => true), stopped.promise])
  if (isServing && isPlayed === true) {
    tell('\nthe timer of the fleet runs on, with the writer; Ctrl+C ends both\n')
    const stopTimer = startFleetTimer(fleet, { clock })
    await stopped.promise
    await stopTimer()
  }
  if (isPlayed === true) await story.end()
  else process.exitCode = 130
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await story.stop()
  for (const { name } of inventory.list()) await inventory.end(name)
  await operator.close()
  await close()
  rmSync(folder, { recursive: true, force: true })
}
// A story that was interrupted may still be waiting for something.
process.exit()

// A ledger of 100 000 sandboxes: how it stands, filtered lists, and what a pass reads.
import { Fleet, MemoryFleetStore, type FleetStore } from '@helix-agents/sandbox-fleet'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { measure } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'

const SANDBOXES = 100_000
const MOST_MS = 50
const WINDOW = 500

export async function run(): Promise<Verdict[]> {
  const { store, close } = await openSqliteFleetStore(':memory:')
  const memory = new MemoryFleetStore()
  await fill(store)
  await fill(memory)
  const verdicts = [...(await look('SQLite', store)), ...(await look('memory', memory))]
  await close()
  return verdicts
}

/** Of each hundred sandboxes 97 are gone, and three are in use. */
async function fill(store: FleetStore): Promise<void> {
  const fleet = new Fleet({
    store,
    drivers: [],
    environment: 'bench',
    policy: { maxConcurrentSandboxes: SANDBOXES },
  })
  const reporter = fleet.reporter('bench')
  for (let n = 0; n < SANDBOXES; n += 1) {
    const id = `sandbox-${n}`
    reporter.opened({
      id,
      provider: 'local-bash',
      sessionId: `session-${n % 5000}`,
      agentType: `agent-${n % 10}`,
      taskId: `task-${n}`,
    })
    if (n % 100 > 2) reporter.closed(id)
    if (n % WINDOW === 0) await reporter.flush()
  }
  await reporter.stop()
}

async function look(name: string, store: FleetStore): Promise<Verdict[]> {
  const fleet = new Fleet({ store, drivers: [], environment: 'bench' })
  const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
    stats: () => fleet.stats(),
    'list, running of an agent': () => fleet.list({ status: 'running', agentType: 'agent-1' }),
    'list, a session': () => fleet.list({ sessionId: 'session-1' }),
    'list, all, newest 200': () => fleet.list({ limit: 200 }),
    'pass, as a dry run': () => fleet.cleanup({ dryRun: true }),
  }
  const measurements = await measure(
    Object.entries(tasks).map(([title, task]) => ({ name: title, run: repeat(task) })),
  )
  return measurements.map((measurement) =>
    report({
      title: `fleet: ${SANDBOXES} sandboxes in ${name}: ${measurement.name}`,
      ours: measurement.name,
      limit: `${MOST_MS} ms`,
      measurements: [{ name: `${MOST_MS} ms`, microseconds: MOST_MS * 1000 }, measurement],
      gate: { most: 1 },
    }),
  )
}

function repeat(task: () => Promise<unknown>): (times: number) => Promise<void> {
  return async (times) => {
    for (let i = 0; i < times; i++) await task()
  }
}

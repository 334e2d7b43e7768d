import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet, TickReport, WireSandbox } from '@helix-agents/sandbox-fleet'
import type { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { SPEED } from './fast-clock.ts'
import { type FleetPlace, workspacesOf } from './open-fleet.ts'
import type { Operator } from './operator.ts'
import { type Order, WorkerProcess } from './worker-process.ts'

const MINUTE_MS = 60_000
/** On the wall. */
const PATIENCE_MS = 120_000
const POLL_MS = 50
const FOREVER = 'sleep 100000'

type Job = Omit<Order, 'place'>

/** Of a process that lives. */
const WORKING: readonly Job[] = [
  { name: 'writer', commands: Array<string>(500).fill('date >> notes.txt; sleep 0.4') },
  { name: 'looper', commands: ['while :; do :; done'] },
]
/** Of one that does not. */
const DOOMED: readonly Job[] = [
  { name: 'crasher', commands: [FOREVER] },
  { name: 'loser', commands: ['echo precious > file'] },
  { name: 'leaker', commands: [FOREVER], isSilent: true },
]
/** Started last: its time counts from its start. */
const WAITER: Job = {
  name: 'waiter',
  commands: ['mkfifo answer; cat answer'],
  policy: { maxLifetimeMs: 14 * MINUTE_MS },
}

/** What the story is played with. */
export interface Stage {
  readonly place: FleetPlace
  readonly fleet: Fleet
  readonly inventory: LocalBashInventory
  readonly operator: Operator
  readonly tell: (line: string) => void
}

/** Agents that loop, hang, crash and leak, and a fleet that clears up behind them. */
export class Story {
  readonly #living = new WorkerProcess()
  readonly #doomed = new WorkerProcess()
  readonly #stage: Stage
  /** Directories by the name of their agent. */
  readonly #directories = new Map<string, string>()
  #beganAt = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** @throws {Error} when a step differs from the story. */
  async play(): Promise<void> {
    await this.#start()
    await this.#breakThings()
    await this.#firstLook()
    await this.#cleanup()
    await this.#actByHand()
    await this.#deadline()
  }

  /** What is left ends in order. */
  async end(): Promise<void> {
    await this.stop()
    const { fleet, inventory } = this.#stage
    const { active, totalCreated, totalDestroyed } = await fleet.stats()
    this.#tell('the end', `the writer closes its workspace in order`)
    const left = inventory.list().length
    const running = [...(await this.#processes()).values()].reduce((sum, count) => sum + count, 0)
    this.#tell('', `${left} directories, ${running} processes, ${active} active`)
    this.#tell('', `created ${totalCreated}, destroyed ${totalDestroyed}`)
    expect(left + running === 0 && totalCreated === totalDestroyed, 'something is left')
  }

  /** The agents that are left close their workspaces. */
  async stop(): Promise<void> {
    await Promise.all([this.#living.finish(), this.#doomed.finish()])
  }

  async #start(): Promise<void> {
    const { place } = this.#stage
    for (const job of DOOMED) this.#doomed.start({ ...job, place })
    for (const job of WORKING) this.#living.start({ ...job, place })
    const count = DOOMED.length + WORKING.length
    await this.#until('the agents', () => this.#areUp(count))
    this.#living.start({ ...WAITER, place })
    await this.#until('the waiter', () => this.#areUp(count + 1))
    this.#beganAt = Date.now()
    this.#tell('minute 0', 'six agents in two processes, each with a workspace of its own')
    this.#tell('', 'writer   works')
    this.#tell('', 'looper   runs a loop without end')
    this.#tell('', 'waiter   waits for an answer that never comes; it may live for 14 minutes')
    this.#tell('', 'crasher  runs a command that takes long')
    this.#tell('', 'loser    has made a file')
    this.#tell('', 'leaker   as the crasher, but it does not report to the fleet')
  }

  /** Whether so many have a directory and a command in it; all but one are in the ledger. */
  async #areUp(count: number): Promise<boolean> {
    const known = await this.#known()
    const listed = this.#stage.inventory.list().map(({ name }) => name)
    const leaked = listed.filter((name) => !known.some(({ id }) => id === name))
    for (const { id, session_id: name } of known) this.#directories.set(name ?? '', id)
    this.#directories.set('leaker', leaked[0] ?? '')
    if (known.length !== count - 1 || leaked.length !== 1) return false
    const running = await this.#processes()
    return ['looper', 'crasher', 'leaker'].every((name) => (running.get(name) ?? 0) > 0)
  }

  async #breakThings(): Promise<void> {
    await this.#doomed.crash()
    this.#tell('kill -9', 'the process of crasher, loser and leaker')
    const lost = join(workspacesOf(this.#stage.place), this.#directory('loser'))
    await rm(lost, { recursive: true })
    this.#tell('rm -rf', 'the directory of loser')
    const left = this.#stage.inventory.list().length
    this.#tell('', `${left} directories are left, and commands without an owner`)
  }

  async #firstLook(): Promise<void> {
    await this.#minute(5)
    const report = await this.#tick('minute 5', 'the timer of the fleet rings for the first time')
    this.#tellReport(report)
    await this.#tellFindings('crasher', 'it is left alone until it is idle for 10 minutes')
  }

  async #cleanup(): Promise<void> {
    await this.#minute(11)
    const report = await this.#tick('minute 11', 'the timer rings again')
    this.#tellReport(report)
    for (const name of ['looper', 'waiter']) {
      await this.#tellFindings(name, 'its owner runs, so that it is left to the operator')
    }
  }

  async #actByHand(): Promise<void> {
    const { operator } = this.#stage
    const looper = this.#directory('looper')
    const cpu = async (): Promise<number> => operator.cpuPercent(looper)
    await this.#until('the loop', async () => (await cpu()) > 2)
    this.#tell('operator', 'GET …/looper/resources   computes all it can get: a loop')
    const used = await operator.cpuPercent(this.#directory('waiter'))
    this.#tell('', `GET …/waiter/resources   cpu_percent ${used}: a hang`)
    this.#tell('', `DELETE …/looper          ${await operator.terminate(looper)}`)
  }

  async #deadline(): Promise<void> {
    await this.#minute(14.2)
    const report = await this.#tick('minute 14', 'and again')
    this.#tellReport(report)
    const [writer] = (await this.#known()).filter(({ session_id: name }) => name === 'writer')
    expect(writer?.status === 'running' && writer.findings[0]?.code !== 'stuck', 'the writer')
    this.#tell('', `writer   was left alone all the time: ${writer?.status}`)
  }

  async #tick(when: string, what: string): Promise<TickReport> {
    this.#tell(when, what)
    const report = await this.#stage.fleet.tick()
    expect(report.errors.length === 0, report.errors.join())
    return report
  }

  #tellReport({ cleanup, reconcile }: TickReport): void {
    const items = [...(reconcile?.items ?? []), ...cleanup.items]
    const done = items.filter(({ outcome }) => outcome === 'healed' || outcome === 'destroyed')
    const lines = done.map((item) => {
      const why = 'reason' in item ? item.detail.replace(/ \d+ \w+/, ' a while') : WHY[item.kind]
      return `${this.#nameOf(item.id).padEnd(8)} ${item.outcome}: ${why}`
    })
    for (const line of lines.toSorted()) this.#tell('', line)
  }

  async #tellFindings(name: string, then: string): Promise<void> {
    const sandbox = (await this.#known()).find(({ session_id: session }) => session === name)
    const codes = sandbox?.findings.map(({ code }) => code) ?? []
    // How busy a loop is depends on what else this machine does.
    const told = codes.filter((code) => code === 'stuck' || code === 'no-owner')
    this.#tell('', `${name.padEnd(8)} ${told.join(', ')}: ${then}`)
  }

  /** Sandboxes of the ledger. */
  #known(): Promise<readonly WireSandbox[]> {
    return this.#stage.operator.list()
  }

  /** An empty name would mean the directory of all workspaces. */
  #directory(name: string): string {
    const directory = this.#directories.get(name)
    if (directory) return directory
    throw new Error(`the directory of ${name} is not known`)
  }

  #nameOf(id: string): string {
    const found = [...this.#directories].find(([, directory]) => directory === id)
    return found?.[0] ?? '?'
  }

  /** How many processes each workspace has. */
  async #processes(): Promise<ReadonlyMap<string, number>> {
    const counts = [...this.#directories].map(async ([name, directory]) => {
      const { processes } = await this.#stage.inventory.resources(directory)
      return [name, processes] as const
    })
    return new Map(await Promise.all(counts))
  }

  /** Waits for a minute of the story. */
  async #minute(minute: number): Promise<void> {
    await sleep(Math.max(0, this.#beganAt + (minute * MINUTE_MS) / SPEED - Date.now()))
  }

  async #until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE_MS
    while (!(await isTrue())) {
      expect(Date.now() < end, `${what} did not come`)
      await sleep(POLL_MS)
    }
  }

  #tell(who: string, line: string): void {
    this.#stage.tell(`${who.padEnd(10)} ${line}`.trimEnd())
  }
}

const WHY = {
  'heal-record': 'the ledger had it, the disk has not',
  'end-orphan': 'the disk had it, the ledger did not',
  'destroy-again': 'it was gone, and came again',
} as const

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`the story went wrong: ${otherwise}`)
}

// A load of agents, one machine that is killed, and one that is frozen for two leases and wakes up.
import { setTimeout as pause } from 'node:timers/promises'
import { STEPS } from './agent.ts'
import { startCluster } from './cluster.ts'
import type { ClusterView, SessionRow } from './cluster-page.ts'

const LEASE_MS = 2000
const SESSIONS = 24
const MACHINES = ['m1', 'm2', 'm3']
const TENANTS = ['acme', 'globex', 'initech']
const CONCURRENCY = 4
const LOOK_MS = 50

/** What the story has found. */
export interface Outcome {
  readonly completed: number
  /** Effects that exist; each session has each number once. */
  readonly effects: number
  /** Files of all workspaces, wherever their sessions began. */
  readonly files: number
  /** How often files came back on another machine. */
  readonly restored: number
  /** How often an effect was asked for. */
  readonly attempts: number
  readonly takeovers: number
  /** The machine of each session while all ran. */
  readonly machines: readonly string[]
  /** From the kill until its sessions ran elsewhere. */
  readonly takeoverMs: number
}

export async function playStory(say: (line: string) => void): Promise<Outcome> {
  const variables = {
    PORT: '0',
    LEASE_MS: `${LEASE_MS}`,
    CONCURRENCY: `${CONCURRENCY}`,
    TURNS_PER_TENANT: '6',
  }
  await using cluster = await startCluster(MACHINES, variables)
  const { url } = cluster.web
  say(`${MACHINES.length} workers run`)
  for (let number = 1; number <= SESSIONS; number++) {
    const tenant = TENANTS[number % TENANTS.length]
    await post(`${url}/turns`, { message: 'Record.', sessionId: `s${number}`, tenant })
  }
  say(`${SESSIONS} turns of ${TENANTS.length} tenants are enqueued`)
  const busy = await until(url, ({ sessions }) => MACHINES.every((name) => has(sessions, name)))
  const machines = [...new Set(busy.sessions.map(({ machine }) => machine))]
    .filter(Boolean)
    .toSorted()
  say(`sessions run on ${machines.join(', ')}`)

  const killed = busy.sessions.filter(({ machine }) => machine === 'm1')
  cluster.machines.get('m1')?.kill('SIGKILL')
  const killedAt = performance.now()
  cluster.machines.get('m2')?.kill('SIGSTOP')
  say('m1 is killed, m2 is frozen')
  const ids = new Set(killed.map(({ sessionId }) => sessionId))
  await until(url, ({ sessions }) =>
    sessions.every(
      (one) => !ids.has(one.sessionId) || one.status === 'completed' || one.machine === 'm3',
    ),
  )
  const takeoverMs = Math.round(performance.now() - killedAt)
  say('m3 has the sessions of m1')
  await pause(Math.max(0, 2 * LEASE_MS - takeoverMs))
  cluster.machines.get('m2')?.kill('SIGCONT')
  say('m2 wakes up after two leases')

  const end = await until(url, ({ sessions }) => sessions.every(isCompleted))
  return { ...outcomeOf(end, say), machines, takeoverMs }
}

function outcomeOf(
  { sessions, workers, files, restored, attempts }: ClusterView,
  say: (line: string) => void,
): Omit<Outcome, 'machines' | 'takeoverMs'> {
  const completed = sessions.filter(isCompleted).length
  const effects = sessions.reduce((sum, { steps }) => sum + countOf(steps), 0)
  const takeovers = workers.reduce((sum, one) => sum + one.takeovers, 0)
  say(`${completed} sessions are completed`)
  say(`${effects} effects exist, ${STEPS} for each session`)
  say(`${files} files are there, ${STEPS} for each session`)
  return { completed, effects, files, restored, attempts, takeovers }
}

/** A machine runs a session that has finished a step: there are files to come back. */
function has(sessions: readonly SessionRow[], name: string): boolean {
  return sessions.some(({ machine, steps }) => machine === name && countOf(steps) >= 3)
}

function isCompleted({ status }: SessionRow): boolean {
  return status === 'completed'
}

function countOf(steps: Readonly<Record<string, number>>): number {
  return Object.values(steps).reduce((sum, count) => sum + count, 0)
}

async function until(
  url: string,
  isReached: (cluster: ClusterView) => boolean,
): Promise<ClusterView> {
  for (;;) {
    const response = await fetch(`${url}/cluster`)
    const cluster = (await response.json()) as ClusterView
    if (cluster.sessions.length > 0 && isReached(cluster)) return cluster
    await pause(LOOK_MS)
  }
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 202) throw new Error(await response.text())
}

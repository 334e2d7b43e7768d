// The ends of a workspace under a fault: letting go of it, leaving its container to its sleep, and
// ending the container.
import { type Bench, RemoteWorkspace } from '../testbed/bench.ts'
import { type Cell, ends } from './cells.ts'
import type { FaultCase } from './faults.ts'
import { endOf } from './meet.ts'
import type { Subject } from './operations.ts'

const CLOSED = 'WorkspaceFailedError closed'
const LASTS = ['sleep', '4712']
const COUNT = 'grep -lzx "471[2]" /proc/[0-9]*/cmdline 2>/dev/null | wc -l'

/** What `close` that ends the container may end in. */
export const ending: Cell = ['done', 'later']

/** @returns what must not be, one line each. */
export async function meetEnds(
  bench: Bench,
  name: string,
  fault: FaultCase,
): Promise<readonly string[]> {
  const leaves = await meetClose(bench, { name: `${name} leaves`, fault, destroyOnClose: false })
  const destroys = await meetClose(bench, { name: `${name} ends`, fault, destroyOnClose: true })
  return [...leaves, ...destroys]
}

interface Close {
  readonly name: string
  readonly fault: FaultCase
  readonly destroyOnClose: boolean
}

async function meetClose(
  bench: Bench,
  { name, fault, destroyOnClose }: Close,
): Promise<readonly string[]> {
  // Without an engine an end is asked for again and again until it is given up.
  const pace = fault.isAlone === true ? { pace: 20 } : {}
  const settings = { config: { destroyOnClose }, options: { ...fault.options, ...pace } }
  const ws = await bench.open(name, settings)
  const second = new RemoteWorkspace(bench, name, { ...settings, key: 'second' })
  await second.open()
  await ws.call('shell.start', LASTS)
  const told = await underFault(bench, fault, ws, async () => [
    await endOf(second.call('detach')),
    await endOf(ws.call('close')),
  ])
  const [detached = '', closed = ''] = told
  const allowed = (destroyOnClose ? ending : (['done'] as const)).map((one): string => ends[one])
  const problems = [
    detached === ends.done ? '' : `detach: ${detached}`,
    allowed.includes(closed) ? '' : `close: ${closed}`,
    closed === ends.done ? '' : problem('close again', await endOf(ws.call('close')), ends.done),
    problem('after it', await endOf(ws.call('fs.stat', '/')), CLOSED),
  ]
  if (destroyOnClose) problems.push(await leftOver(bench, ws.id))
  problems.push(problem('open again', await reopen(ws), ends.done))
  const left = fault.meets === 'each' ? await ws.output(COUNT) : '0'
  problems.push(problem('processes that are left', left, '0'))
  return problems.filter((one) => one !== '').map((one) => `${name}: ${one}`)
}

const problem = (what: string, seen: string, wanted: string): string =>
  seen === wanted ? '' : `${what}: ${seen}`

async function leftOver({ testbed }: Bench, id: string): Promise<string> {
  const sandbox = await testbed.sandbox(id)
  return sandbox === undefined ? '' : 'its container runs on'
}

/** As a registry does, which asks again for what may pass. */
async function reopen(ws: RemoteWorkspace): Promise<string> {
  const end = await endOf(ws.open())
  return end === ends.later ? endOf(ws.open()) : end
}

async function underFault<T>(
  bench: Bench,
  { fault, begin, during }: FaultCase,
  ws: RemoteWorkspace,
  run: () => Promise<T>,
): Promise<T> {
  // What a fault needs of a subject.
  const scene = { bench, subject: { ws, fork: { ref: { sandbox: ws.id } } } as Subject }
  const injected = fault && bench.testbed.faults.inject({ ...fault, sandbox: ws.id })
  const end = await begin?.(scene)
  const running = run()
  // An end that takes no time has nothing in its middle.
  const [happened] = await Promise.allSettled([during?.(scene)])
  if (happened.status === 'rejected' && (await bench.testbed.sandbox(ws.id)) !== undefined) {
    throw happened.reason
  }
  const result = await running
  injected?.remove()
  await end?.()
  return result
}

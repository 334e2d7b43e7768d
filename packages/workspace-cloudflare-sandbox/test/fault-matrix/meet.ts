import { type Bench, RemoteError, RemoteWorkspace } from '../testbed/bench.ts'
import { ends } from './cells.ts'
import type { FaultCase, Scene } from './faults.ts'
import {
  lookAtAll,
  type Operation,
  operations,
  prepareSubject,
  type Subject,
} from './operations.ts'

/** How an operation ended under a fault. */
export interface Met {
  readonly end: string
  readonly tookMs: number
  /** Absent for what changes nothing, and where the disk is gone. */
  effect?: string
}

/** In the environment of every command; nothing that is told may show it. */
const SECRET = 'sk-planted-4711'
const CONFIG = { backupR2Binding: 'BACKUP_BUCKET', env: { TOKEN: SECRET } } as const

/** Meets a fault with every operation, or with some that meet it one by one. */
export async function meetAll(
  bench: Bench,
  name: string,
  fault: FaultCase,
  some: readonly Operation[] = operations,
): Promise<ReadonlyMap<string, Met>> {
  const settings = { config: CONFIG, ...(fault.options && { options: fault.options }) }
  const ws = await bench.open(name, settings)
  const second = new RemoteWorkspace(bench, name, { ...settings, key: 'second' })
  const subject = await prepareSubject(ws, second)
  const stored = JSON.stringify([ws.opened, subject.snapshot, subject.fork])
  if (stored.includes(SECRET)) throw new Error('a ref or a receipt holds a secret')
  const scene = { bench, subject }
  const met = await (fault.meets === 'each'
    ? oneByOne(scene, fault, some)
    : atOnce(scene, fault, some))
  const logged = await ws.call<string>('logged')
  if (logged.includes(SECRET)) throw new Error('a line of the log tells a secret')
  if (fault.isLast === true) return met
  if (fault.losesDisk === true) await assertEmpty(ws)
  else await recordEffects(ws, met)
  if (fault.losesDisk === true) return met
  const opened = [ws, second].filter((one) => one.opened !== undefined)
  await Promise.all(opened.map(assertLive))
  return met
}

async function oneByOne(
  { bench, subject }: Scene,
  { fault }: FaultCase,
  some: readonly Operation[],
): Promise<Map<string, Met>> {
  const met = new Map<string, Met>()
  for (const operation of some) {
    const sandbox = operation.sandboxOf?.(subject) ?? subject.ws.id
    if (fault === undefined) throw new Error('there is no fault to inject')
    const injected = bench.testbed.faults.inject({ ...fault, sandbox })
    met.set(operation.name, await attempt(operation, subject))
    injected.remove()
    await assertLive(subject.ws)
  }
  return met
}

async function atOnce(
  scene: Scene,
  { begin, during, isFirstAsleep }: FaultCase,
  all: readonly Operation[],
): Promise<Map<string, Met>> {
  const end = await begin?.(scene)
  const meet = (some: readonly Operation[]): Promise<readonly (readonly [string, Met])[]> =>
    Promise.all(some.map(async (one) => [one.name, await attempt(one, scene.subject)] as const))
  // What others start says nothing about what an operation would have met alone.
  const first = isFirstAsleep === true ? all.filter(({ isOnce }) => isOnce) : []
  const met = new Map(await meet(first))
  if (first.length > 0 && (await scene.bench.testbed.sandbox(scene.subject.ws.id)) !== undefined) {
    throw new Error('a container was started for nothing')
  }
  const rest = meet(all.filter(({ name }) => !met.has(name)))
  await during?.(scene)
  for (const [name, one] of await rest) met.set(name, one)
  await end?.()
  return met
}

async function attempt(operation: Operation, subject: Subject): Promise<Met> {
  const startedAt = performance.now()
  const end = await endOf(operation.run(subject))
  return { end, tookMs: performance.now() - startedAt }
}

/**
 * The handle works, or says once that it is evicted and works after a resolve, as for a registry.
 * @throws {Error} otherwise.
 */
export async function assertLive(ws: RemoteWorkspace): Promise<void> {
  const first = await endOf(ws.call('fs.stat', '/'))
  if (first === ends.done) return
  if (first !== ends.repeat && first !== ends.unknown) throw new Error(`it is dead: ${first}`)
  await ws.resolve()
  const second = await endOf(ws.call('fs.stat', '/'))
  if (second !== ends.done) throw new Error(`it is dead after a resolve: ${second}`)
}

/** `ok`, or class, code and what the caller can go by. */
export async function endOf(run: Promise<unknown>): Promise<string> {
  try {
    const value = await run
    if (JSON.stringify([value]).includes(SECRET)) throw new Error('a result tells a secret')
    return 'ok'
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    if (JSON.stringify(error.told).includes(SECRET)) {
      throw new Error('an error tells a secret', { cause: error })
    }
    const { name, code, admitted, transient } = error.told
    const more = [admitted, transient === true ? 'transient' : undefined]
    return [name, code, ...more].filter((word) => word !== undefined).join(' ')
  }
}

/** What is still on its way when the call has failed comes to its end first. */
async function recordEffects(ws: RemoteWorkspace, met: Map<string, Met>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 500)
  await promise
  for (const [name, effect] of await lookAtAll(ws)) {
    const cell = met.get(name)
    if (cell !== undefined) cell.effect = effect
  }
}

/** No operation has acted in the container that came after, nor will one before a resolve. */
async function assertEmpty(ws: RemoteWorkspace): Promise<void> {
  const old = await endOf(ws.call('fs.writeFile', '/late', 'x'))
  if (old !== ends.repeat && old !== ends.unknown) throw new Error(`the old handle says ${old}`)
  const resolved = await endOf(ws.resolve())
  if (resolved !== ends.lost && resolved !== ends.later) throw new Error(`a resolve: ${resolved}`)
  await ws.open()
  const names = await ws.output('ls -A')
  if (names !== '') throw new Error(`the next container holds ${names}`)
}

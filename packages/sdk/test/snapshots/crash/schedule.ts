// Turns, restores, branches, moves, deletions and collections of several sessions, in any order, by
// processes that may die at any call.
import assert from 'node:assert/strict'
import { HelixError } from '@helix-agents/core'
import fc from 'fast-check'
import { judge, judgeEnd, textsOf } from './judge.ts'
import { DyingProcess } from './process.ts'
import { call, CrashWorld, type HomeName } from './world.ts'

const WORKSPACES = ['box', 'lab'] as const
type Workspace = (typeof WORKSPACES)[number]

interface Action {
  readonly kind: 'turn' | 'restore' | 'branch' | 'seed' | 'move' | 'delete' | 'collect'
  /** Of the sessions that there are, and of the checkpoints of one. */
  readonly picks: readonly [session: number, checkpoint: number]
  readonly writes: readonly { readonly workspace: Workspace; readonly text: string }[]
  /** The point at which its process dies; most operations have fewer than the largest. */
  readonly fatal: number | undefined
}

const write = fc.record({
  workspace: fc.constantFrom(...WORKSPACES),
  text: fc.constantFrom('', 'one', 'two', 'more than fits into a line '.repeat(3)),
})

/** One operation and its process. */
export const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom(
    'turn',
    'turn',
    'restore',
    'branch',
    'seed',
    'move',
    'move',
    'delete',
    'collect',
  ),
  picks: fc.tuple(fc.nat(3), fc.nat(7)),
  writes: fc.array(write, { minLength: 1, maxLength: 3 }),
  fatal: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
})

type Texts = Readonly<Record<string, Readonly<Record<string, string | null>>>>

export class Schedule {
  readonly world: CrashWorld
  readonly #deleting = new Set<string>()
  #branches = 0

  constructor([box, lab]: readonly [HomeName, HomeName]) {
    this.world = new CrashWorld([box, lab], { box, lab })
  }

  async run(given: Action): Promise<void> {
    const { world } = this
    const { items } = await world.store.listSessions({ limit: 200 })
    const ids = items.map(({ sessionId }) => sessionId).toSorted()
    const picked = ids[given.picks[0] % Math.max(1, ids.length)]
    const isFirst = picked === undefined || (given.kind === 'turn' && ids.length < 2)
    const sessionId = isFirst ? `s${world.ids.size}` : picked
    const process = new DyingProcess(given.fatal)
    const before = await this.#textsOf(sessionId)
    const wanted = await this.#act(isFirst ? { ...given, kind: 'turn' } : given, sessionId, process)
    if (process.isDead) {
      await world.settle(this.#deleting)
      await judge(world)
    }
    await this.#judgeTexts(sessionId, { before, wanted, isDead: process.isDead })
  }

  /** Everything is judged, and its end leaves nothing. */
  async end(): Promise<void> {
    await this.world.settle(this.#deleting)
    await judge(this.world)
    await judgeEnd(this.world)
  }

  /** @returns the files that the session has afterwards, where they are known */
  async #act(given: Action, sessionId: string, process: DyingProcess): Promise<Texts | undefined> {
    const { kind } = given
    if (kind === 'turn') return this.#turn(given, sessionId, process)
    if (kind === 'move') return this.#move(given, sessionId, process)
    if (kind === 'restore') return this.#restore(given, sessionId, process)
    if (kind === 'branch' || kind === 'seed') return this.#branch(given, sessionId, process)
    const { world } = this
    const executor = world.executor(process)
    if (kind === 'delete') {
      this.#deleting.add(sessionId)
      return this.#settled(process, {}, () => executor.deleteSession(world.agent, sessionId))
    }
    const texts = await this.#textsOf(sessionId)
    return this.#settled(process, texts, () =>
      executor.releaseWorkspaces(world.agent, sessionId, { graceMs: 0 }),
    )
  }

  #turn({ writes }: Action, sessionId: string, process: DyingProcess) {
    const steps = writes.flatMap(({ workspace, text }) => [
      call(workspace, 'read_file', { path: '/a' }),
      call(workspace, 'write_file', { path: '/a', content: text }),
    ])
    return this.#settled(process, undefined, () => this.world.run(process, sessionId, ...steps))
  }

  async #move(
    { writes }: Action,
    sessionId: string,
    process: DyingProcess,
  ): Promise<Texts | undefined> {
    const { world } = this
    const workspace = writes[0]?.workspace ?? 'box'
    const ref = await world.refOf(sessionId, workspace)
    const target = world.homes.find(({ config }) => config.kind !== ref?.providerId)
    const texts = await this.#textsOf(sessionId)
    if (ref === undefined || target === undefined) return texts
    const to = target.config
    const executor = world.executor(process)
    return this.#settled(process, texts, () =>
      executor.moveWorkspace(world.agent, sessionId, workspace, { to }),
    )
  }

  async #restore({ picks }: Action, sessionId: string, process: DyingProcess) {
    const { world } = this
    const checkpointId = await this.#pointOf(sessionId, picks[1])
    if (checkpointId === undefined) return this.#textsOf(sessionId)
    const then = await this.#textsAt(sessionId, checkpointId)
    const executor = world.executor(process)
    return this.#settled(process, then, () =>
      executor.restoreCheckpoint(world.agent, sessionId, checkpointId, { files: true }),
    )
  }

  /** The branch has the files of then or of now; its source keeps its own. */
  async #branch({ kind, picks }: Action, sessionId: string, process: DyingProcess) {
    const { world } = this
    const texts = await this.#textsOf(sessionId)
    const checkpointId = await this.#pointOf(sessionId, picks[1])
    if (checkpointId === undefined) return texts
    this.#branches += 1
    const branchId = `b${this.#branches}`
    world.ids.add(branchId)
    const isSeed = kind === 'seed'
    const files = isSeed
      ? ({ seedWorkspaces: 'snapshot' } as const)
      : ({ files: 'checkpoint' } as const)
    const from = { fromSessionId: sessionId, sessionId: branchId, checkpointId, ...files }
    const executor = world.executor(process)
    await this.#settled(process, texts, () => executor.branch(world.agent, from))
    const wanted = isSeed ? texts : await this.#textsAt(sessionId, checkpointId)
    const isThere = (await world.store.loadSession(branchId)) !== null
    if (isThere && wanted !== undefined) assert.deepEqual(await this.#textsOf(branchId), wanted)
    return texts
  }

  async #pointOf(sessionId: string, pick: number): Promise<string | undefined> {
    const points = await this.world.points(sessionId)
    return points[pick % Math.max(1, points.length)]
  }

  /** A process that lives fails only for files that a limit of the history has removed. */
  async #settled(
    process: DyingProcess,
    wanted: Texts | undefined,
    work: () => Promise<unknown>,
  ): Promise<Texts | undefined> {
    const [outcome] = await Promise.allSettled([work()])
    if (outcome.status === 'fulfilled' || process.isDead) return wanted
    const { reason } = outcome as { readonly reason: unknown }
    if (HelixError.isInstance(reason) && reason.code === 'files-missing') return undefined
    throw reason
  }

  async #textsOf(sessionId: string): Promise<Texts> {
    const texts: Record<string, Texts[string]> = {}
    for (const workspace of WORKSPACES) {
      const tree = await this.world.filesOf(sessionId, workspace)
      if (tree !== undefined) texts[workspace] = textsOf(tree)
    }
    return texts
  }

  /** Undefined when they are not kept. */
  async #textsAt(sessionId: string, checkpointId: string): Promise<Texts | undefined> {
    const { world } = this
    const checkpoint = await world.store.getCheckpoint(sessionId, checkpointId)
    const texts: Record<string, Texts[string]> = {}
    for (const name of WORKSPACES) {
      const taken = checkpoint?.workspaceSnapshots?.[name]
      if (taken === undefined) continue
      const { snapshot } = taken
      if (snapshot === undefined) return undefined
      texts[name] = textsOf(world.expected.get(world.homeOf(snapshot).nameOfSnapshot(snapshot)))
    }
    return texts
  }

  /** The old files or the new ones, of all workspaces together. */
  async #judgeTexts(
    sessionId: string,
    at: { readonly before: Texts; readonly wanted: Texts | undefined; readonly isDead: boolean },
  ): Promise<void> {
    const { before, wanted, isDead } = at
    if (wanted === undefined) return
    const now = JSON.stringify(await this.#textsOf(sessionId))
    const allowed = [wanted, ...(isDead ? [before] : [])].map((one) => JSON.stringify(one))
    assert(allowed.includes(now), `${now} is none of ${allowed.join(' and ')}`)
  }
}

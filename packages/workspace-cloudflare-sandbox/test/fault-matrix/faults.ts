// How each fault is brought about, and how operations meet it.
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Fault } from '@helix-agents/sandbox-testbed'
import type { Bench } from '../testbed/bench.ts'
import type { OpenArguments } from '../worker/protocol.ts'
import type { Subject } from './operations.ts'

/** Where a fault happens. */
export interface Scene {
  readonly bench: Bench
  readonly subject: Subject
}

type Begin = (scene: Scene) => Promise<() => Promise<void> | void>

export interface FaultCase {
  readonly title: string
  /** Of the provider, and of its test. */
  readonly options?: OpenArguments['options']
  /**
   * `each`: in force for one operation after the other. `together`: all are under way at once,
   * which costs one container for all of them.
   */
  readonly meets: 'each' | 'together'
  /** In force for one operation, once or more. */
  readonly fault?: Fault
  /** Before the operations begin. @returns what ends it. */
  readonly begin?: Begin
  /** After they have begun. */
  readonly during?: (scene: Scene) => Promise<void>
  /** It concerns all sandboxes of the test bed. */
  readonly isAlone?: boolean
  /** The platform does not recover from it: nothing comes after. */
  readonly isLast?: boolean
  /** Operations that start no container meet it first. */
  readonly isFirstAsleep?: boolean
  /** The container is another one afterwards, with an empty disk. */
  readonly losesDisk?: boolean
}

/** Times faster than the machine's, where only deadlines pass. */
const FAST = 100
const PAUSE_MS = 400
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** All sandboxes of a subject. */
const idsOf = ({ ws, fork }: Subject): readonly string[] => [ws.id, fork.ref.sandbox]

const inject = ({ bench, subject }: Scene, fault: Fault): (() => void) => {
  const injected = idsOf(subject).map((sandbox) =>
    bench.testbed.faults.inject({ ...fault, sandbox }),
  )
  return () => injected.forEach((each) => each.remove())
}

/** Longer than a container can be expected to be still there after a call. */
const IDLE_MS = 60_000

const asleepWith =
  (fault?: Fault): Begin =>
  async (scene) => {
    await scene.subject.ws.call('clock.leap', IDLE_MS)
    await scene.bench.testbed.sleepNow(scene.subject.ws.id)
    return fault === undefined ? () => {} : inject(scene, fault)
  }

/** Messages take long enough for something to happen in the middle of every call. */
const slowly: Begin = async (scene) => inject(scene, { kind: 'slow-network', delayMs: PAUSE_MS })

/** What the test bed does to the container while the messages are on their way. */
const halfway =
  (end: 'crash' | 'sleepNow') =>
  async ({ bench, subject }: Scene): Promise<void> => {
    await pause(PAUSE_MS * 1.5)
    await bench.testbed[end](subject.ws.id)
  }

/** Nobody answers on the socket of the container engine. */
async function withoutEngine({ bench, subject }: Scene): Promise<() => Promise<void>> {
  const container = await bench.testbed.sandbox(subject.ws.id)
  const socket = join(dirname(dirname(container?.root ?? '')), 'engine.sock')
  await rename(socket, `${socket}.away`)
  return () => rename(`${socket}.away`, socket)
}

export const faults = {
  'cut before the container has it': {
    title: 'the connection is cut before the container has the operation',
    meets: 'each',
    fault: { kind: 'interrupted', when: 'before-admission', times: 1 },
  },
  'cut after the container has it': {
    title: 'the connection is cut after the container has the operation',
    meets: 'each',
    fault: { kind: 'interrupted', when: 'after-admission', times: 1 },
  },
  'answer lost': {
    title: 'the answer is lost',
    meets: 'each',
    fault: { kind: 'lost-reply', times: 1 },
  },
  'network slow': {
    title: 'every message takes long',
    meets: 'together',
    begin: async (scene) => inject(scene, { kind: 'slow-network', delayMs: 60 }),
  },
  'network frozen': {
    title: 'no message arrives',
    meets: 'together',
    begin: async (scene) => {
      const thaw = inject(scene, { kind: 'frozen-network' })
      await scene.subject.ws.call('clock.setPace', FAST)
      return async () => {
        await scene.subject.ws.call('clock.setPace', 1)
        thaw()
      }
    },
  },
  'container slept before': {
    title: 'the container slept and its disk is gone',
    meets: 'together',
    isFirstAsleep: true,
    begin: asleepWith(),
    losesDisk: true,
  },
  'container slept, slow start': {
    title: 'the container slept, and the next one starts slowly',
    meets: 'together',
    isFirstAsleep: true,
    begin: asleepWith({ kind: 'slow-start', delayMs: 1500, times: 1 }),
    losesDisk: true,
  },
  'container slept, no room': {
    title: 'the container slept, and the platform has no room for another one',
    options: { isImpatient: true },
    meets: 'together',
    isFirstAsleep: true,
    begin: asleepWith({ kind: 'capacity', reason: 'max-instances' }),
    losesDisk: true,
  },
  'container slept, none listens': {
    title: 'the container slept, and the next one never listens',
    meets: 'together',
    isFirstAsleep: true,
    begin: async (scene) => {
      const end = await asleepWith({ kind: 'never-listens' })(scene)
      await scene.subject.ws.call('clock.setPace', FAST)
      return end
    },
    isLast: true,
    losesDisk: true,
  },
  'container killed before': {
    title: 'the container was killed',
    meets: 'together',
    begin: async ({ bench, subject }) => {
      await bench.testbed.crash(subject.ws.id)
      return () => {}
    },
    losesDisk: true,
  },
  'container killed meanwhile': {
    title: 'the container is killed in the middle',
    meets: 'together',
    begin: slowly,
    during: halfway('crash'),
    losesDisk: true,
  },
  'container sleeps meanwhile': {
    title: 'the container is stopped in the middle',
    meets: 'together',
    begin: slowly,
    during: halfway('sleepNow'),
    losesDisk: true,
  },
  'engine gone, container runs': {
    title: 'the container engine is gone while the container runs',
    meets: 'together',
    begin: withoutEngine,
    isAlone: true,
  },
} as const satisfies Record<string, FaultCase>

export type FaultName = keyof typeof faults

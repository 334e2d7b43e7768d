import {
  codeBehaviours,
  defineConformance,
  fileSystemBehaviours,
  shellBehaviours,
  type workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { afterAll, beforeAll, it } from 'vitest'
import type { Transport } from '../worker/behaviour-runner.ts'
import { EXTRAS, HOST_SECRETS } from '../worker/conformance-config.ts'
import { Bench } from './bench.ts'

/** Need no more than an empty workspace, so several objects may each have one. */
const simple = new Set(
  [...fileSystemBehaviours, ...shellBehaviours, ...codeBehaviours].map(({ id }) => id),
)
const LANES = 2
/** Waits for its turn in a lane, so its own time says little. */
const TIMEOUT_MS = 180_000
const START_MS = 180_000

type Run = (lane: string, id: string) => Promise<void>

/** One behaviour at a time in each object of the Worker. */
class Lane {
  readonly #name: string
  readonly #run: Run
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, run: Run) {
    this.#name = name
    this.#run = run
  }

  run(id: string): Promise<void> {
    const next = this.#last.then(() => this.#run(this.#name, id))
    this.#last = Promise.allSettled([next])
    return next
  }
}

const { concurrent } = it
const register = (name: string, run: () => Promise<void>): void => {
  concurrent(name, run, TIMEOUT_MS)
}

/** Registers the whole kit; each behaviour runs in workerd, through the real SDK. */
export function defineRemoteConformance(
  behaviours: typeof workspaceBehaviours,
  engine: 'local' | 'docker',
  transport: Transport,
): void {
  let bench: Bench | undefined

  beforeAll(async () => {
    process.env.HELIX_TEST_API_KEY = HOST_SECRETS[0]
    bench = await Bench.start(engine)
  }, START_MS)
  afterAll(async () => {
    delete process.env.HELIX_TEST_API_KEY
    await bench?.testbed.stop()
  }, START_MS)

  const run: Run = async (lane, id) => {
    if (bench === undefined) throw new Error('the test bed did not start')
    await runBehaviour(bench, lane, { id, transport })
  }
  const alone = new Lane('alone', run)
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(`lane-${index}`, run))
  const remote = behaviours.map((behaviour, index) => {
    const lane = (simple.has(behaviour.id) ? lanes[index % LANES] : alone) ?? alone
    return { ...behaviour, run: () => lane.run(behaviour.id) }
  })
  defineConformance({ it: register, fails: it.fails }, remote, {
    create: async () => undefined,
    offers: ['fs', 'shell', 'code', 'snapshot', 'branch', ...EXTRAS],
  })
}

/** Runs in the Worker; what went wrong there is told here. */
async function runBehaviour(
  bench: Bench,
  lane: string,
  given: { readonly id: string; readonly transport: Transport },
): Promise<void> {
  const { error } = await bench.ask(lane, { program: 'behaviour', arguments: given })
  if (error === undefined) return
  const causes = error.causes.map((cause) => `\n  caused by ${cause}`).join('')
  throw new Error(`${error.name}: ${error.message}${causes}\n${error.stack ?? ''}`)
}

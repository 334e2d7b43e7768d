import { DriverError } from '../driver-error.ts'
import type { EnsureOptions, EnsureOutcome } from '../port.ts'
import { ensureScript } from '../script/lifecycle-scripts.ts'
import { parseReply } from '../script/reply.ts'
import type { ContainerLink } from './container-link.ts'
import type { ScriptOutput } from './script-runner.ts'

const DEADLINE_MS = 60_000

/** Asks a container which one it is, marks it when it is new, and remembers it. */
export async function ensureEpoch(
  link: ContainerLink,
  { knownEpoch, signal }: EnsureOptions,
): Promise<Pick<EnsureOutcome, 'outcome' | 'epoch'>> {
  const nonce = link.createNonce()
  const fresh = `e${link.createNonce()}`
  const call = { deadlineMs: DEADLINE_MS, isRepeatable: true, signal }
  const script = ensureScript(link.settings, nonce, fresh)
  const { stdout } = await runPatiently(link, () => link.runner.run(script, call))
  const { status, fields } = parseReply(stdout, nonce)
  const [epoch = ''] = fields
  if (status !== 'kept' || epoch === '') {
    const detail = 'the container has no room for a mark'
    throw new DriverError('storage-full', detail, { admitted: 'yes' })
  }
  link.epoch = epoch
  return { outcome: outcomeOf({ epoch, fresh, knownEpoch }), epoch }
}

const ATTEMPTS = 4
const PAUSE_MS = 400
/** What takes longer is no such interruption, and has had its time. */
const PATIENCE_MS = 15_000

/** For a second after the end of a container the platform interrupts the calls to the next one. */
async function runPatiently(
  { clock }: ContainerLink,
  run: () => Promise<ScriptOutput>,
): Promise<ScriptOutput> {
  const untilMs = clock.now() + PATIENCE_MS
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      const isPassing = error instanceof DriverError && error.code === 'interrupted'
      if (!isPassing || attempt === ATTEMPTS || clock.now() > untilMs) throw error
      await clock.sleep(PAUSE_MS)
    }
  }
}

function outcomeOf(seen: {
  readonly epoch: string
  readonly fresh: string
  readonly knownEpoch: string | undefined
}): EnsureOutcome['outcome'] {
  if (seen.knownEpoch !== undefined) return seen.epoch === seen.knownEpoch ? 'reattached' : 'cold'
  return seen.epoch === seen.fresh ? 'created' : 'reattached'
}

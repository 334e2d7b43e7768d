import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { toTimeText } from '../../output/duration-text.ts'
import type { CommandContext } from '../command-context.ts'

/** How often a command looks, and how it tells. */
export interface WatchFlags {
  readonly watch?: number
  readonly json?: boolean
}

/** What one look found. */
export interface FleetReading {
  readonly hasFindings: boolean
  /** For `--json`. */
  readonly json: object
  /** For a person. */
  readonly print: () => void
}

/** Looks once, or again and again until it is interrupted or nobody reads any more. */
export async function readOrWatch(
  flags: WatchFlags,
  context: CommandContext,
  look: () => Promise<FleetReading>,
): Promise<void> {
  const { host, output, setExitCode } = context
  if (flags.watch === undefined) {
    tell(await look(), flags, context)
    return
  }
  while (!output.isClosed) {
    const at = host.clock.now()
    if (flags.json !== true) output.heading(toTimeText(at))
    try {
      tell(await look(), flags, context)
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode === exitCodes.usage) throw error
      setExitCode(error.exitCode)
      if (flags.json === true) output.json({ at, unreachable: error.message }, { isCompact: true })
      else output.problem(error.message)
    }
    if (!output.isClosed) await host.clock.sleep(flags.watch * 1000)
  }
}

function tell(found: FleetReading, flags: WatchFlags, context: CommandContext): void {
  const { host, output, setExitCode } = context
  setExitCode(found.hasFindings ? exitCodes.findings : exitCodes.ok)
  if (flags.json !== true) found.print()
  else if (flags.watch === undefined) output.json(found.json)
  else output.json({ at: host.clock.now(), ...found.json }, { isCompact: true })
}

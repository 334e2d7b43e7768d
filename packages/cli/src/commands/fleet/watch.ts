import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { toTimeText } from '../../output/duration-text.ts'
import type { CommandContext } from '../command-context.ts'

/** How often a command is repeated, and how it prints. */
export interface WatchFlags {
  readonly watch?: number
  readonly json?: boolean
}

/** Result of one reading. */
export interface FleetReading {
  readonly hasFindings: boolean
  /** For `--json`. */
  readonly json: object
  /** For a person. */
  readonly print: () => void
}

/** Reads once, or repeatedly until it is interrupted or its output is closed. */
export async function readOrWatch(
  flags: WatchFlags,
  context: CommandContext,
  read: () => Promise<FleetReading>,
): Promise<void> {
  const { host, output, setExitCode } = context
  if (flags.watch === undefined) {
    printReading(await read(), flags, context)
    return
  }
  while (!output.isClosed) {
    const at = host.clock.now()
    if (flags.json !== true) output.heading(toTimeText(at))
    try {
      printReading(await read(), flags, context)
    } catch (error) {
      if (!(error instanceof CommandError) || error.exitCode === exitCodes.usage) throw error
      setExitCode(error.exitCode)
      if (flags.json === true) output.json({ at, unreachable: error.message }, { isCompact: true })
      else output.problem(error.message)
    }
    if (!output.isClosed) await host.clock.sleep(flags.watch * 1000)
  }
}

function printReading(found: FleetReading, flags: WatchFlags, context: CommandContext): void {
  const { host, output, setExitCode } = context
  setExitCode(found.hasFindings ? exitCodes.findings : exitCodes.ok)
  if (flags.json !== true) found.print()
  else if (flags.watch === undefined) output.json(found.json)
  else output.json({ at: host.clock.now(), ...found.json }, { isCompact: true })
}

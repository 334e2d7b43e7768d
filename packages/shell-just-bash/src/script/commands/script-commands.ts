import type { CustomCommand } from 'just-bash'
import type { Script, ScriptHost } from '../script.ts'
import { guardCommand } from '../guard-redirections.ts'
import { hostCommand } from './host-command.ts'
import { killCommand } from './kill.ts'
import { printfCommand } from './printf.ts'
import { processCommands } from './process-commands.ts'

/**
 * What just-bash lacks or does otherwise, and the commands of the host.
 * @param end Ends the script with an exit code.
 */
export function scriptCommands(
  script: Script,
  host: ScriptHost,
  end: (exitCode: number) => void,
): CustomCommand[] {
  const own = [guardCommand, printfCommand, killCommand(end), ...processCommands]
  const ofHost = new Set(script.hostCommands)
  return [
    ...own.filter(({ name }) => !ofHost.has(name)),
    ...script.hostCommands.map((name) => hostCommand(name, host)),
  ]
}

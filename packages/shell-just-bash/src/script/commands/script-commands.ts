import type { Command, CustomCommand } from 'just-bash'
import type { Script, ScriptHost } from '../script.ts'
import { guardCommand } from '../guard-redirections.ts'
import { boundedPrograms } from './bounds/bounded-programs.ts'
import { turnCommand } from './bounds/turns.ts'
import { cutCommand } from './filters/cut.ts'
import { trCommand } from './filters/tr.ts'
import { argumentForms } from './gnu/argument-forms.ts'
import { diff } from './gnu/diff.ts'
import { grepCommand } from './gnu/grep.ts'
import { ls } from './gnu/ls.ts'
import { smallPrograms } from './gnu/small-programs.ts'
import { sort } from './gnu/sort.ts'
import { hostCommand } from './host-command.ts'
import { killCommand } from './kill.ts'
import { printfCommand } from './printf.ts'
import { processCommands } from './process-commands.ts'
import { sedCommand } from './sed/sed.ts'

/**
 * What just-bash lacks or does otherwise, and the commands of the host.
 * @param end Ends the script with an exit code.
 */
export function scriptCommands(
  script: Script,
  { host, isShared }: { readonly host: ScriptHost; readonly isShared: boolean },
  end: (exitCode: number) => void,
): CustomCommand[] {
  const own: readonly Command[] = [
    guardCommand,
    turnCommand(host),
    printfCommand,
    killCommand(end),
    grepCommand(host),
    sort,
    sedCommand(script.limits),
    cutCommand,
    trCommand,
    ls,
    diff,
    ...argumentForms,
    ...boundedPrograms(isShared),
    ...smallPrograms,
    ...processCommands,
  ]
  const ofHost = new Set(script.hostCommands)
  return [
    ...own.filter(({ name }) => !ofHost.has(name)),
    ...script.hostCommands.map((name) => hostCommand(name, host)),
  ]
}

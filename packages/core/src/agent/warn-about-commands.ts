import { logMessages } from '../logging/log-messages.ts'
import type { Logger } from '../logging/logger.ts'
import { commandsNotKnownHarmless } from '../modules/shell/harmless-commands.ts'
import type { Agent } from './agent-definition.ts'

const warned = new WeakSet<Agent>()

const REASON =
  'No list of programs that start others is complete. Only the programs which are known to start none are left out here.'

/** Warns, once per agent, of allowed commands that are not known to start no other command. */
export function warnAboutCommands(agent: Agent, logger: Logger): void {
  if (warned.has(agent)) return
  warned.add(agent)
  for (const { name, capabilities } of Object.values(agent.workspaces)) {
    const commands = commandsNotKnownHarmless(capabilities.shell?.allowedCommands ?? [])
    if (commands.length === 0) continue
    logger.warn(
      { agent: agent.name, workspace: name, commands, reason: REASON },
      logMessages.allowedCommandStartsOthers,
    )
  }
}

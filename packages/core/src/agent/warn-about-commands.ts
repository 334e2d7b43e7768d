import { logMessages } from '../logging/log-messages.ts'
import type { Logger } from '../logging/logger.ts'
import { commandsThatStartOthers } from '../modules/shell/exec-wrappers.ts'
import type { Agent } from './agent-definition.ts'

const warned = new WeakSet<Agent>()

/** Warns, once per agent, of allowed commands that can start any other command. */
export function warnAboutCommands(agent: Agent, logger: Logger): void {
  if (warned.has(agent)) return
  warned.add(agent)
  for (const { name, capabilities } of Object.values(agent.workspaces)) {
    const commands = commandsThatStartOthers(capabilities.shell?.allowedCommands ?? [])
    if (commands.length === 0) continue
    logger.warn(
      { agent: agent.name, workspace: name, commands },
      logMessages.allowedCommandStartsOthers,
    )
  }
}

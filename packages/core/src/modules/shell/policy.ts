import type { PolicyContext } from '../define-module.ts'
import { CommandAllowlist } from './allowlist.ts'
import type { ShellConfig } from './config.ts'
import type { Shell, ShellCommand, ShellRunOptions } from './contract.ts'

type Environment = ShellRunOptions['env']
type Admit = (command: ShellCommand, environment: Environment) => ShellCommand

/** Bounds the time of every command and, with an allowlist, lets only argument vectors through. */
export function withShellPolicy(shell: Shell, config: ShellConfig, context: PolicyContext): Shell {
  const admit = createAdmission(config, context)
  return {
    run: async (command, options = {}) => {
      const timeoutMs = Math.min(options.timeoutMs ?? config.timeoutMs, config.maxTimeoutMs)
      return shell.run(admit(command, options.env), { ...options, timeoutMs })
    },
    ...(config.background ? guardBackground(shell, admit) : {}),
  }
}

function createAdmission(config: ShellConfig, context: PolicyContext): Admit {
  if (config.allowedCommands === undefined) return (command) => command
  const allowlist = new CommandAllowlist(config.allowedCommands, context)
  return (command, environment = {}) => {
    const words = allowlist.admit(command)
    allowlist.rejectVariables(words, Object.keys(environment))
    return words
  }
}

/** Starting is guarded like running; what is already running is not policy's concern. */
function guardBackground(shell: Shell, admit: Admit): Omit<Shell, 'run'> {
  const start = shell.start?.bind(shell)
  const list = shell.list?.bind(shell)
  const output = shell.output?.bind(shell)
  const kill = shell.kill?.bind(shell)
  return {
    ...(start && {
      start: async (command, options = {}) => start(admit(command, options.env), options),
    }),
    ...(list && { list }),
    ...(output && { output }),
    ...(kill && { kill }),
  }
}

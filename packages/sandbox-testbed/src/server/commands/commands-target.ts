import { NO_SESSION } from '../environment.ts'
import { timestamp } from '../server-sent-events.ts'
import { messageOf, ServiceError } from '../service-error.ts'
import { CollectedOutput, newBudget } from './collected-output.ts'
import { type CommandOptions, startSessionless } from './sessionless-child.ts'
import { sessionStream, sessionlessStream } from './command-stream.ts'
import { takeSessionOutput } from './session-output.ts'
import { ServiceTarget } from '../service-target.ts'

/** The reply to a finished command. */
export interface CommandReply {
  readonly success: boolean
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly command: string
  readonly timestamp: string
}

/** `commands`: one command at a time in a session, or each in a shell of its own. */
export class CommandsTarget extends ServiceTarget {
  execute(command: string, sessionId: string, options: CommandOptions = {}): Promise<CommandReply> {
    return sessionId === NO_SESSION
      ? this.#executeAlone(command, options)
      : this.#executeInSession(command, sessionId, options)
  }

  async executeStream(
    command: string,
    sessionId: string,
    options: CommandOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { closed } = this.connection
    if (sessionId !== NO_SESSION) {
      return sessionStream(this.container, command, { ...options, sessionId, closed })
    }
    try {
      const child = await startSessionless(command, options, this.container.groups)
      return sessionlessStream(child, command, closed)
    } catch (error) {
      throw new ServiceError('STREAM_START_ERROR', messageOf(error), { command })
    }
  }

  async #executeAlone(command: string, options: CommandOptions): Promise<CommandReply> {
    const child = await startSessionless(command, options, this.container.groups).catch(
      (error: unknown) => {
        throw new ServiceError('COMMAND_EXECUTION_ERROR', messageOf(error), { command })
      },
    )
    const budget = newBudget()
    const stdout = new CollectedOutput(child.stdout, budget)
    const stderr = new CollectedOutput(child.stderr, budget)
    const { exitCode, notice } = await child.ended
    if (budget.bytesLeft < 0) this.connection.overflow()
    return reply(command, exitCode, { stdout: stdout.text(), stderr: stderr.text() + notice })
  }

  async #executeInSession(
    command: string,
    sessionId: string,
    options: CommandOptions,
  ): Promise<CommandReply> {
    await this.container.costs.pay('session')
    const session = this.container.sessions.use(sessionId)
    const { exitCode, files } = await session.run(command, options)
    const output = takeSessionOutput(files)
    if (output === undefined) this.connection.overflow()
    return reply(command, exitCode, output ?? { stdout: '', stderr: '' })
  }
}

function reply(
  command: string,
  exitCode: number,
  output: { readonly stdout: string; readonly stderr: string },
): CommandReply {
  return { success: exitCode === 0, exitCode, ...output, command, timestamp: timestamp() }
}

import type { Clock } from '@helix-agents/core'
import { failureOf, systemError } from '../script/file-reply.ts'
import { filePrelude, REFUSE_LINKS } from '../script/file-prelude.ts'
import { findReply, parseReply, type ScriptReply } from '../script/reply.ts'
import type { ContainerSettings } from '../script/settings.ts'
import { LargeFiles } from './large-files.ts'
import type { ScriptCall, ScriptRunner } from './script-runner.ts'

const FILE_DEADLINE_MS = 60_000

/** Exit code of a program of the system that says on stderr what is wrong. */
const COMPLAINED = 1

/** What is shared by all parts of one driver. */
export interface LinkOptions {
  readonly runner: ScriptRunner
  readonly settings: ContainerSettings
  readonly clock: Clock
  /** Words of hexadecimal digits, never the same. */
  readonly createNonce: () => string
}

/** What operations on files need of a container. */
export type FileLink = Omit<ContainerLink, 'clock' | 'epoch'>

/** One container as the driver knows it: the way to it, and the epoch it must have. */
export class ContainerLink {
  readonly runner: ScriptRunner
  readonly settings: ContainerSettings
  readonly clock: Clock
  readonly createNonce: () => string
  readonly largeFiles = new LargeFiles()
  /** Set by `ensure`; scripts do nothing in a container with another one. Empty: any will do. */
  epoch = ''

  constructor({ runner, settings, clock, createNonce }: LinkOptions) {
    this.runner = runner
    this.settings = settings
    this.clock = clock
    this.createNonce = createNonce
  }

  /** The same for scripts that reject links on the way of their paths. */
  refusingLinks(): FileLink {
    const link: FileLink = {
      runner: this.runner,
      settings: this.settings,
      createNonce: this.createNonce,
      largeFiles: this.largeFiles,
      ask: (script, call) => this.ask(`${REFUSE_LINKS}\n${script}`, call),
      refusingLinks: () => link,
    }
    return link
  }

  /**
   * Runs a script on files and gives its answer.
   * @param script May use what `filePrelude` defines.
   * @throws {DriverError} for any answer that reports a failure.
   */
  async ask(
    script: string,
    call: Partial<ScriptCall> & { readonly nonce?: string } = {},
  ): Promise<ScriptReply> {
    const nonce = call.nonce ?? this.createNonce()
    const whole = filePrelude(this.settings, nonce, this.epoch) + script
    const { stdout, stderr, exitCode } = await this.runner.run(whole, {
      deadlineMs: call.deadlineMs ?? FILE_DEADLINE_MS,
      isRepeatable: call.isRepeatable ?? false,
      ...(call.signal !== undefined && { signal: call.signal }),
    })
    const isComplaint = exitCode === COMPLAINED && findReply(stdout, nonce) === undefined
    if (isComplaint) throw systemError(stderr)
    const reply = parseReply(stdout, nonce)
    if (reply.status === 'fail' || reply.status === 'cold') throw failureOf(reply, stderr)
    return reply
  }
}

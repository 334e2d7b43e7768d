import { DriverError } from '../driver-error.ts'
import type { DriverCode, DriverCodeOptions, DriverCodeOutcome, DriverCodeOutput } from '../port.ts'
import type { ContainerLink } from '../remote/container-link.ts'
import { type CommandRequest, runCommand } from '../remote/run-command.ts'
import { askProcesses } from '../remote/script-processes.ts'
import type { Slots } from '../remote/slots.ts'
import { homeOf, killProcessScript, startScript } from '../script/process-scripts.ts'
import type { CodeEnding } from './code-events.ts'
import { CodeOutputs } from './code-outputs.ts'
import {
  clientCommand,
  type CodeSource,
  type Language,
  LANGUAGES,
  onceCommand,
} from './languages.ts'

/** Longer code goes through a file: one word of a command line may have 128 KiB. */
const WORD_BYTES = 100_000
/** Results and displays of a run; of more, the first and the last ones are kept. */
const CHANNEL_BYTES = 12 * 1024 * 1024
const STORE = { deadlineMs: 30_000, isRepeatable: true }
const ID = /^[0-9a-f]{1,64}$/

export interface ScriptCodeOptions {
  readonly link: ContainerLink
  readonly slots: Slots
  /** Of every interpreter. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Interpreters as ordinary processes of the container: code runs where it should, with what it should
 * know, is read while it runs, and ends at its deadline with all that it started.
 */
export class ScriptCode implements DriverCode {
  readonly #options: ScriptCodeOptions

  constructor(options: ScriptCodeOptions) {
    this.#options = options
  }

  async runOnce(
    name: string,
    code: string,
    options: DriverCodeOptions,
  ): Promise<DriverCodeOutcome> {
    const language = languageOf(name)
    return this.#run(code, options, (source) => onceCommand(language, source))
  }

  async create(name: string, { cwd }: { readonly cwd: string }): Promise<string> {
    const language = languageOf(name)
    const { link, env } = this.#options
    const id = link.createNonce()
    const argv = language.serve(this.#home(id), cwd)
    const request = { id, kind: 'context', argv, title: name, cwd, env } as const
    const reply = await askProcesses(
      link,
      (names) => startScript(link.settings, names, request),
      false,
    )
    if (reply.status === 'absent') throw absent(reply.fields[0])
    return id
  }

  async run(context: string, code: string, options: DriverCodeOptions): Promise<DriverCodeOutcome> {
    if (!ID.test(context)) throw lost()
    const mark = this.#options.link.createNonce()
    const command = (source: CodeSource): readonly string[] =>
      clientCommand(this.#home(context), mark, source)
    const outcome = await this.#run(code, options, command)
    // Whatever it waited for, or was in the middle of: no later run may meet it.
    if (outcome.timedOut || outcome.aborted) await Promise.allSettled([this.remove(context)])
    return outcome
  }

  async remove(context: string): Promise<void> {
    if (!ID.test(context)) throw lost()
    const { link } = this.#options
    const request = { id: context, kind: 'context' } as const
    const reply = await askProcesses(
      link,
      (names) => killProcessScript(link.settings, names, request),
      true,
    )
    if (reply.status === 'missing') throw lost()
  }

  async #run(
    code: string,
    options: DriverCodeOptions,
    command: (source: CodeSource) => readonly string[],
  ): Promise<DriverCodeOutcome> {
    options.signal?.throwIfAborted()
    const source = await this.#sourceOf(code)
    try {
      return await this.#exec(command(source), options)
    } finally {
      if (source[0] === 'file') await this.#sweep(source[1])
    }
  }

  async #exec(argv: readonly string[], options: DriverCodeOptions): Promise<DriverCodeOutcome> {
    const { link, slots } = this.#options
    const outcome = await runCommand(link, slots, this.#request(argv, options))
    const outputs: DriverCodeOutput[] = []
    const all = new CodeOutputs((output) => void outputs.push(output))
    const { stdout, stderr, channel, exitCode, timedOut, aborted, epoch } = outcome
    all.printAll('stdout', stdout, notice(stdout.spillPath))
    all.printAll('stderr', stderr, notice(stderr.spillPath))
    if (channel !== undefined) all.emitAllEvents(channel)
    await all.settle(true)
    if (all.ending !== undefined) throwUnlessEnded(all.ending)
    const error = all.error ?? errorOfExit(exitCode, all.ending)
    const isOver = timedOut || aborted
    return {
      outputs,
      exitCode,
      timedOut,
      aborted,
      epoch,
      ...(error !== undefined && !isOver && { error }),
    }
  }

  #request(argv: readonly string[], options: DriverCodeOptions): CommandRequest {
    const exec = { ...options, env: this.#options.env }
    const onOutput = options.onOutput?.bind(options)
    if (onOutput === undefined) {
      return { argv, options: exec, channel: { maxBytes: CHANNEL_BYTES } }
    }
    const live = new CodeOutputs(onOutput)
    return {
      argv,
      options: {
        ...exec,
        onStdout: async (bytes) => live.print('stdout', bytes),
        onStderr: async (bytes) => live.print('stderr', bytes),
      },
      channel: {
        maxBytes: CHANNEL_BYTES,
        onPiece: async (bytes) => live.emitEvents(bytes),
        onPoll: (isOver) => live.settle(isOver),
      },
    }
  }

  async #sourceOf(code: string): Promise<CodeSource> {
    const bytes = new TextEncoder().encode(code)
    if (bytes.length <= WORD_BYTES && !code.includes('\0')) return ['text', code]
    const { runner, settings, createNonce } = this.#options.link
    const path = `${settings.scratch}/s-${createNonce()}.code`
    await runner.store(path, bytes, STORE)
    return ['file', path]
  }

  /** Of a run that did not get as far as reading it. */
  async #sweep(path: string): Promise<void> {
    await Promise.allSettled([this.#options.link.runner.run(`rm -f -- '${path}'`, STORE)])
  }

  #home(id: string): string {
    return `${this.#options.link.settings.scratch}/${homeOf('context', id)}`
  }
}

function languageOf(name: string): Language {
  const language = LANGUAGES.get(name)
  if (language !== undefined) return language
  throw new DriverError('language-missing', `${name} cannot be run`, { admitted: 'no' })
}

function notice(path: string | undefined): (omitted: number) => string {
  const where = path === undefined ? '' : `; the whole output is in ${path}`
  return (omitted) => `\n[${omitted} bytes are left out${where}]\n`
}

function throwUnlessEnded({ type, program }: CodeEnding): void {
  if (type === 'absent') throw absent(program)
  if (type === 'lost') throw lost()
  if (type === 'ended') return
  throw new DriverError('storage-full', 'the container has no room for the code', {
    admitted: 'no',
  })
}

/** Of an interpreter that left without a word. */
function errorOfExit(exitCode: number, ending: CodeEnding | undefined): DriverCodeOutcome['error'] {
  if (exitCode === 0) return undefined
  const more = ending === undefined ? '' : ', and its context is gone'
  const message = `the interpreter ended with exit code ${exitCode}${more}`
  return { name: 'InterpreterExit', message }
}

function absent(program = 'interpreter'): DriverError {
  const options = { admitted: 'no', missing: program } as const
  return new DriverError('language-missing', `the image has no ${program}`, options)
}

function lost(): DriverError {
  return new DriverError('context-missing', 'no code context has this id', { admitted: 'no' })
}

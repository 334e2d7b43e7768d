import type { ModulePreview } from '../../permissions/module-preview.ts'
import { changesPrograms, readCommandLine } from './command-line.ts'
import type { ShellConfig } from './config.ts'
import { parseWords, quoteWord } from './words.ts'

/** The arguments of a command, as the tools have them. */
interface CommandInput {
  readonly command: string
  readonly opts?: {
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string>>
    readonly timeoutMs?: number
    readonly background?: boolean
  }
}

/** The command as its words, and where and with which variables it runs. */
export function previewCommand(
  { command, opts = {} }: CommandInput,
  config: ShellConfig,
): ModulePreview {
  const { cwd, env, background = false, timeoutMs = config.timeoutMs } = opts
  // Values may be secrets; those that choose programs are what a person has to see.
  const names = Object.entries(env ?? {}).map(([name, value]) =>
    changesPrograms(name) ? `${name}=${JSON.stringify(value)}` : name,
  )
  const { words } = parseWords(command)
  const details = [
    ...(words === undefined ? describeLine(command) : [`words: ${JSON.stringify(words)}`]),
    `directory: ${cwd ?? '/'}`,
    ...(names.length === 0 ? [] : [`environment: ${names.join(', ')}`]),
    background
      ? 'runs in the background'
      : `time: at most ${Math.min(timeoutMs, config.maxTimeoutMs)} ms`,
  ]
  const title = words === undefined ? command : words.map(quoteWord).join(' ')
  return { title, body: [...details, '', command].join('\n') }
}

/** A line that is more than words: what is known to run. */
function describeLine(command: string): string[] {
  const { commands, opaque } = readCommandLine(command)
  const shown = commands.map((words) => words.map((word) => word ?? '…').join(' '))
  return [
    ...shown.map((line) => `runs: ${line}`),
    ...(opaque === undefined ? [] : [`may run more: ${opaque}`]),
  ]
}

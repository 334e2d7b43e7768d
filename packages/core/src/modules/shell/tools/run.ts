import * as z from 'zod'
import type { ModulePreview } from '../../../permissions/module-preview.ts'
import { type ModuleToolCall, toolsFor, type TouchedCommand } from '../../define-module.ts'
import type { ShellConfig } from '../config.ts'
import type { Shell } from '../contract.ts'

/** Linux takes no longer argument. */
const MAX_COMMAND_CHARACTERS = 131_072

const command = () =>
  z
    .string()
    .min(1)
    .max(MAX_COMMAND_CHARACTERS)
    .describe('The command line. It reads no input: stdin is closed.')

const runOptions = () =>
  z.strictObject({
    cwd: z.string().exactOptional().describe('Working directory. Default: the workspace root.'),
    timeoutMs: z
      .number()
      .int()
      .positive()
      .exactOptional()
      .describe('Time in milliseconds after which the command and all it started is ended.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
      .exactOptional()
      .describe('Variables to add to the environment.'),
  })

const runInput = () => z.strictObject({ command: command(), opts: runOptions().exactOptional() })

const runOrStartInput = () =>
  z.strictObject({
    command: command(),
    opts: runOptions()
      .extend({
        background: z
          .boolean()
          .exactOptional()
          .describe('Start it and return at once; process_output reads what it prints.'),
      })
      .exactOptional(),
  })

const DESCRIPTION =
  'Run a command in the workspace and return its exit code, stdout and stderr. Each command starts fresh in the workspace root: no variable and no cd of an earlier one is left.'
const ANNOTATIONS = { readOnly: false, destructive: true, idempotent: false } as const

export const runTool = toolsFor<Shell, ShellConfig>()({
  name: 'run',
  description: DESCRIPTION,
  inputSchema: runInput,
  annotations: ANNOTATIONS,
  command: touchedCommand,
  preview: previewRun,
  available: (config) => !config.background,
  load: async () => (await import('./calls/run.ts')).runWork,
})

/** The same name with one option more: an agent has one of the two. */
export const runOrStartTool = toolsFor<Shell, ShellConfig>()({
  name: 'run',
  description: `${DESCRIPTION} With opts.background it goes on while you do other things.`,
  inputSchema: runOrStartInput,
  annotations: ANNOTATIONS,
  command: touchedCommand,
  preview: previewRun,
  available: (config) => config.background,
  load: async () => (await import('./calls/run.ts')).runOrStartWork,
})

type RunInput = z.output<ReturnType<typeof runInput>>

function touchedCommand({ command: line, opts }: RunInput): TouchedCommand {
  return { line, ...(opts?.env && { variables: Object.keys(opts.env) }) }
}

async function previewRun({
  input,
  config,
}: Pick<ModuleToolCall<Shell, ShellConfig, RunInput>, 'input' | 'config'>): Promise<ModulePreview> {
  return (await import('../command-preview.ts')).previewCommand(input, config)
}

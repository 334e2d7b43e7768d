import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import * as z from 'zod'
import { type Arguments, readArguments } from './arguments.ts'
import { askFolder, askTemplate, DEFAULT_FOLDER, type Terminal } from './ask.ts'
import { CreateError } from './create-error.ts'
import { createProject, type CreatedProject, ownTemplates } from './create-project.ts'
import { folderOfName, nameOfFolder } from './project-name.ts'
import { listTemplates } from './templates.ts'

/** What the command needs of the machine. */
export interface CreateHost {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stops the command: Ctrl+C. */
  readonly signal: AbortSignal
  /** What the user typed, for help and errors. Default: `npm create helix-agents`. */
  readonly program?: string
  /** Folder of the templates. Default: those of this package. */
  readonly templatesFolder?: string
}

/** Exit codes of the command. */
export const createExitCodes = {
  ok: 0,
  /** No project was made, and nothing is left of it. */
  failed: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** Ctrl+C; nothing is left. */
  interrupted: 130,
} as const

/** npm takes options for itself up to the dashes. */
const NPM_CREATE = 'npm create helix-agents'

/**
 * Runs one command line of `create-helix-agents`.
 * @param args Arguments behind the name of the program.
 * @returns the exit code.
 */
export async function runCreate(args: readonly string[], host: CreateHost): Promise<number> {
  try {
    const given = readArguments(args)
    if (given.isHelp) host.stdout.write(helpText(host))
    else if (given.isVersion) host.stdout.write(`${readVersion()}\n`)
    else await create(given, host)
    return createExitCodes.ok
  } catch (error) {
    if (!(error instanceof CreateError)) throw error
    return report(error, args.includes('--json'), host)
  }
}

async function create(given: Arguments, host: CreateHost): Promise<void> {
  const { folder, name, template } = await complete(given, host)
  const { isJson, isInstalled } = given
  if (!isJson && isInstalled) host.stdout.write(`Making ${name}, and installing it …\n`)
  const project = await createProject({
    folder,
    name,
    template,
    install: isInstalled,
    env: host.env,
    signal: host.signal,
    ...(given.packages !== undefined && { packages: given.packages }),
    ...(host.templatesFolder !== undefined && { templatesFolder: host.templatesFolder }),
  })
  const next = nextCommands(project)
  host.stdout.write(isJson ? `${JSON.stringify({ ...project, next })}\n` : doneText(project, next))
}

interface Wanted {
  readonly folder: string
  readonly name: string
  readonly template: string
}

/** Asks for what is missing, where a person can answer. */
async function complete(given: Arguments, host: CreateHost): Promise<Wanted> {
  const terminal = terminalOf(given, host)
  const folder =
    given.folder ??
    (given.name && folderOfName(given.name)) ??
    (await (terminal ? askFolder(terminal) : defaultOf(given, DEFAULT_FOLDER)))
  const template = given.template ?? (await chooseTemplate(given, host, terminal))
  return { folder, name: given.name ?? nameOfFolder(folder), template }
}

async function chooseTemplate(
  given: Arguments,
  { templatesFolder = ownTemplates }: CreateHost,
  terminal: Terminal | undefined,
): Promise<string> {
  const templates = listTemplates(templatesFolder)
  if (terminal !== undefined) return askTemplate(terminal, templates)
  return defaultOf(given, templates[0]?.name ?? 'terminal')
}

function terminalOf(given: Arguments, { stdin, stdout, signal }: CreateHost): Terminal | undefined {
  const hasPerson = stdin.isTTY === true && stdout.isTTY === true
  if (given.isYes || given.isJson || !hasPerson) return undefined
  return { input: stdin, output: stdout, signal }
}

/** Without a terminal a default is taken only with `--yes`. */
function defaultOf({ isYes }: Arguments, value: string): string {
  if (isYes) return value
  const problem =
    'without a terminal, name a folder and a --template, or take the defaults by --yes'
  throw new CreateError('usage', problem)
}

function nextCommands({ folder, installed, packageManager }: CreatedProject): string[] {
  const place = relative(process.cwd(), folder)
  const manager = packageManager === 'bun' ? 'bun run' : packageManager
  return [
    ...(place === '' ? [] : [`cd ${quoted(place)}`]),
    ...(installed ? [] : [`${packageManager} install`]),
    `${manager} start`,
  ]
}

/** For a shell: a folder may be named anything. */
function quoted(path: string): string {
  const safe = path.startsWith('-') ? `./${path}` : path
  return /^[\w./@-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", String.raw`'\''`)}'`
}

function doneText({ name, folder }: CreatedProject, next: readonly string[]): string {
  const lines = next.map((command) => `  ${command}\n`).join('')
  return `${name} is in ${folder}. Next:\n\n${lines}\nIts README.md has the rest.\n`
}

function report(error: CreateError, isJson: boolean, host: CreateHost): number {
  const { stdout, stderr, program = NPM_CREATE } = host
  const { code, message } = error
  if (isJson) stdout.write(`${JSON.stringify({ error: { code, message } })}\n`)
  else if (code === 'interrupted') stderr.write('Interrupted; nothing was made.\n')
  else stderr.write(`${program}: ${message}\n`)
  if (code === 'usage') return createExitCodes.usage
  return code === 'interrupted' ? createExitCodes.interrupted : createExitCodes.failed
}

function helpText({ templatesFolder = ownTemplates, program = NPM_CREATE }: CreateHost): string {
  const templates = listTemplates(templatesFolder)
  const width = Math.max(...templates.map(({ name }) => name.length))
  const lines = templates.map((one) => `  ${one.name.padEnd(width)}  ${one.description}\n`).join('')
  return `Usage: ${program} [folder] ${program === NPM_CREATE ? '-- ' : ''}[options]

Makes a project with an agent that runs at once, and installs it.

Options:
  -t, --template <name>  what it begins with
  -n, --name <name>      name of the package (default: that of the folder)
  -y, --yes              take the defaults, ask nothing
      --json             print the result as JSON, ask nothing
      --packages <dir>   install the tarballs of this folder, not those of the registry
      --no-install       write the files only
  -V, --version          print the version
  -h, --help             print this

Templates:
${lines}
Exit codes: 0 made · 1 not made · 2 usage · 130 interrupted
`
}

/** Version of this package: its manifest lies above `src` as it does above `dist`. */
function readVersion(): string {
  const file = new URL('../package.json', import.meta.url)
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}

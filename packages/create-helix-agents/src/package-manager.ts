import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { CreateError } from './create-error.ts'

/** The program that installs a project. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** How it is started, without a shell. */
  readonly command: readonly [string, ...string[]]
}

type Environment = Readonly<Record<string, string | undefined>>

const NAMES = ['npm', 'pnpm', 'yarn', 'bun'] as const

/**
 * The one that started this process; npm when none did. Its program says which it is: one that runs
 * inside another inherits the name of the outer one.
 */
export function findPackageManager(env: Environment): PackageManager {
  const [agent] = (env.npm_config_user_agent ?? '').split('/')
  const path = env.npm_execpath
  const program = path === undefined ? '' : basename(path)
  const name =
    NAMES.find((each) => program.startsWith(each)) ?? NAMES.find((each) => each === agent)
  if (name === undefined) return { name: 'npm', command: ['npm'] }
  if (path === undefined) return { name, command: [name] }
  const isScript = /\.[cm]?js$/.test(path)
  return { name, command: isScript ? [process.execPath, path] : [path] }
}

/** Install of one project. */
export interface Install {
  readonly folder: string
  readonly manager: PackageManager
  readonly env: Environment
  /** Takes what is in the cache before it asks a registry. */
  readonly isOffline: boolean
  readonly signal: AbortSignal
}

/**
 * Installs the dependencies of a project.
 * @throws {CreateError} `install-failed` with the end of its output; `interrupted` on the signal.
 */
export async function install({ folder, manager, env, isOffline, signal }: Install): Promise<void> {
  const [command, ...before] = manager.command
  const quiet = manager.name === 'npm' ? ['--no-audit', '--no-fund', '--loglevel=error'] : []
  const offline = isOffline && manager.name !== 'yarn' ? ['--prefer-offline'] : []
  const child = spawn(command, [...before, 'install', ...quiet, ...offline], {
    cwd: folder,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGTERM',
  })
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const ended = once(child, 'close')
  await ended.catch(async (cause: unknown) => {
    // An aborted child is waited for: it must not write into a folder that is being removed.
    if (signal.aborted && child.exitCode === null) await once(child, 'close')
    if (!signal.aborted) throw failed(manager, cause instanceof Error ? cause.message : `${cause}`)
  })
  if (signal.aborted) throw new CreateError('interrupted', 'interrupted')
  if (child.exitCode !== 0) throw failed(manager, (await output).join('').trim().slice(-MAX_OUTPUT))
}

const MAX_OUTPUT = 4000

function failed({ name }: PackageManager, reason: string): CreateError {
  return new CreateError('install-failed', `${name} install failed:\n${reason}`)
}

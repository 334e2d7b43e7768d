import { existsSync } from 'node:fs'
import { WorkspaceFailedError } from '@helix-agents/core'
import type { ShellCommand } from '@helix-agents/core/provider'
import type { PinnedDirectory } from '../file-system/path/pinned-directory.ts'
import { findProgram, findSystemProgram, isProgram } from './find-program.ts'
import type { Namespace } from './namespace/namespace.ts'
import { initCommand } from './namespace/namespace-init.ts'
import { requireBubblewrap } from './require-bubblewrap.ts'

/** What to start for a command. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  /** The program of the command, for messages about it. */
  readonly name: string
  /** Directory on the host to start in. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** It makes a namespace: see `initCommand` for what it says, and where the command writes. */
  readonly isNamespaced: boolean
  /** Why the program cannot be started, as the system would say; nothing is started then. */
  readonly obstacle?: 'ENOENT' | 'EACCES'
}

export interface LaunchRequest {
  readonly command: ShellCommand
  /** Working directory: a path of the workspace, and the directory itself. */
  readonly path: string
  readonly directory: PinnedDirectory
  readonly env: Readonly<Record<string, string>>
}

/** Turns a command into a program of the host. */
export interface Launcher {
  /** The directory that commands see as the workspace root. */
  readonly shellRoot: string
  /** Variables that depend on where commands run; the caller's win. */
  readonly baseEnv: Readonly<Record<string, string>>
  /** Whether commands have a namespace of their own for processes. */
  readonly isNamespaced: boolean
  /** Processes and threads that a command may have at once; undefined without a limit. */
  readonly maxProcesses: number | undefined
  /** Whether commands find a path of the host, such as that of a program, where the host has it. */
  readonly sees: (path: string) => boolean
  launch(request: LaunchRequest): Launch
}

/** How the processes of commands are held. */
export interface HeldProcesses {
  readonly namespace: Namespace | undefined
  readonly maxProcesses: number
}

/**
 * Runs commands with the files and the network of the host.
 * @param held The namespace gives each command processes of its own; without it, it sees those of
 * the host, and there is no limit of them.
 */
export function createPlainLauncher(
  root: string,
  tmp: string,
  { namespace, maxProcesses }: HeldProcesses,
): Launcher {
  const bash = requireBash()
  return {
    shellRoot: root,
    baseEnv: { HOME: root, TMPDIR: tmp },
    isNamespaced: namespace !== undefined,
    maxProcesses: namespace?.limit && maxProcesses,
    sees: () => true,
    launch: ({ command, directory, env: given }) => {
      const env = { PWD: directory.location(), ...given }
      const [name, ...args] = argumentsOf(command, bash)
      const plain = { file: name, args, name, cwd: directory.self, env, isNamespaced: false }
      if (namespace === undefined) return plain
      const file = resolveProgram(name, directory, env)
      // Asking the system would start what appears in the meantime, outside of a namespace.
      if (file === undefined) return { ...plain, obstacle: obstacleOf(name, directory) }
      return { ...plain, ...namespace.wrap([file, ...args], env, maxProcesses), isNamespaced: true }
    },
  }
}

/** The program as a shell may get it; undefined when there is none that can be started. */
function resolveProgram(
  name: string,
  directory: PinnedDirectory,
  env: Readonly<Record<string, string>>,
): string | undefined {
  const from = (path: string): string => (path.startsWith('/') ? path : directory.at(path))
  if (name.includes('/')) return isProgram(from(name)) ? name : undefined
  const entries = (env.PATH ?? '')
    .split(':')
    .map((entry) => `${entry === '' ? '.' : entry}/${name}`)
  const found = entries.find((path) => isProgram(from(path)))
  // A name like an option would be one.
  return found !== undefined && name.startsWith('-') ? found : found && name
}

function obstacleOf(name: string, directory: PinnedDirectory): 'ENOENT' | 'EACCES' {
  if (!name.includes('/')) return 'ENOENT'
  const path = name.startsWith('/') ? name : directory.at(name)
  return existsSync(path) ? 'EACCES' : 'ENOENT'
}

/** Root of the workspace inside a sandbox. */
export const SANDBOX_ROOT = '/workspace'

/** Of the host, what commands may read: programs and what these need to start. */
const SYSTEM_DIRECTORIES = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt']
const SYSTEM_FILES = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime']
  .concat(['nsswitch.conf', 'passwd', 'group', 'ssl', 'mime.types'])
  .map((name) => `/etc/${name}`)

const SANDBOX_FLAGS = [
  '--unshare-all',
  '--die-with-parent',
  '--as-pid-1',
  '--new-session',
  '--cap-drop',
  'ALL',
]
  .concat(['--hostname', 'workspace', '--proc', '/proc', '--dev', '/dev'])
  // Root writes the settings of the kernel by its user id alone, without any capability.
  .concat(['--ro-bind', '/proc/sys', '/proc/sys'])

/**
 * Runs commands in a namespace of their own: the workspace at `/workspace`, the programs of the
 * host read-only, no network, no other process in sight, a `/tmp` of its own.
 * @throws {WorkspaceFailedError} `config-invalid` when the host has no `bwrap`.
 */
export function createBubblewrapLauncher(
  root: string,
  tmp: string,
  { namespace, maxProcesses }: HeldProcesses,
): Launcher {
  // Root has another limit, which it would set where nothing can be written here.
  const limit = process.getuid?.() === 0 ? undefined : namespace?.limit
  const [bwrap, shell] = [requireBubblewrap(), requireProgram('sh')]
  const readable = [...SYSTEM_DIRECTORIES, ...SYSTEM_FILES].filter((path) => existsSync(path))
  const binds = readable.flatMap((path) => ['--ro-bind', path, path])
  const fixed = [...SANDBOX_FLAGS, ...binds, '--bind', root, SANDBOX_ROOT, '--bind', tmp, '/tmp']
  return {
    shellRoot: SANDBOX_ROOT,
    baseEnv: { HOME: SANDBOX_ROOT, TMPDIR: '/tmp' },
    isNamespaced: true,
    maxProcesses: limit && maxProcesses,
    sees: (path) => SYSTEM_DIRECTORIES.some((top) => `${path}/`.startsWith(`${top}/`)),
    launch: ({ command, path, env }) => {
      const cwd = path === '/' ? SANDBOX_ROOT : SANDBOX_ROOT + path
      const [name, ...rest] = argumentsOf(command, '/bin/bash')
      const init = initCommand([name, ...rest], { PWD: cwd, ...env }, limit?.(maxProcesses))
      const args = [...fixed, '--chdir', cwd, '--', shell, ...init.args]
      return { file: bwrap, args, name, cwd: '/', env: init.env, isNamespaced: true }
    },
  }
}

function requireBash(): string {
  const bash = findProgram('bash')
  if (bash !== undefined) return bash
  throw new WorkspaceFailedError('provider-failed', 'the host has no bash')
}

function requireProgram(name: string): string {
  const program = findSystemProgram(name)
  if (program !== undefined) return program
  throw new WorkspaceFailedError('provider-failed', `the host has no ${name}`)
}

/**
 * A line goes to bash, without profile and start-up files, so that a command means the same on
 * every host; an argument vector goes to no shell at all.
 */
function argumentsOf(command: ShellCommand, bash: string): [string, ...string[]] {
  if (typeof command === 'string') return [bash, '--noprofile', '--norc', '-c', '--', command]
  const [file = '', ...args] = command
  return [file, ...args]
}

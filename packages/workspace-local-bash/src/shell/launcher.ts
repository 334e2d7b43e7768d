import { existsSync } from 'node:fs'
import { type ShellCommand, WorkspaceFailedError } from '@helix-agents/core'
import type { PinnedDirectory } from '../file-system/pinned-directory.ts'
import { findProgram } from './find-program.ts'

/** What to start for a command. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  /** Directory on the host to start in. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
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
  launch(request: LaunchRequest): Launch
}

/** Runs commands on the host as it is. */
export function createPlainLauncher(root: string, tmp: string): Launcher {
  const bash = requireBash()
  return {
    shellRoot: root,
    baseEnv: { HOME: root, TMPDIR: tmp },
    launch: ({ command, directory, env }) => {
      const [file, ...args] = argumentsOf(command, bash)
      return { file, args, cwd: directory.self, env: { PWD: directory.location(), ...env } }
    },
  }
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
  '--new-session',
  '--cap-drop',
  'ALL',
].concat(['--hostname', 'workspace', '--proc', '/proc', '--dev', '/dev'])

/**
 * Runs commands in a namespace of their own: the workspace at `/workspace`, the programs of the
 * host read-only, no network, no other process in sight, a `/tmp` of its own.
 * @throws {WorkspaceFailedError} `config-invalid` when the host has no `bwrap`.
 */
export function createBubblewrapLauncher(root: string, tmp: string): Launcher {
  const bwrap = requireBubblewrap()
  const readable = [...SYSTEM_DIRECTORIES, ...SYSTEM_FILES].filter((path) => existsSync(path))
  const binds = readable.flatMap((path) => ['--ro-bind', path, path])
  const fixed = [...SANDBOX_FLAGS, ...binds, '--bind', root, SANDBOX_ROOT, '--bind', tmp, '/tmp']
  return {
    shellRoot: SANDBOX_ROOT,
    baseEnv: { HOME: SANDBOX_ROOT, TMPDIR: '/tmp' },
    launch: ({ command, path, env }) => {
      const cwd = path === '/' ? SANDBOX_ROOT : SANDBOX_ROOT + path
      const inner = sandboxed(command)
      const args = [...fixed, '--chdir', cwd, '--', ...inner]
      return { file: bwrap, args, cwd: '/', env: { PWD: cwd, ...env } }
    },
  }
}

/** @throws {WorkspaceFailedError} `config-invalid` when the host has no `bwrap`. */
export function requireBubblewrap(find = findProgram): string {
  const bwrap = find('bwrap')
  if (bwrap !== undefined) return bwrap
  throw new WorkspaceFailedError(
    'config-invalid',
    "isolation 'bubblewrap' needs the program bwrap, which the host does not have",
    { hint: "An operator must install bubblewrap, or choose isolation 'none'." },
  )
}

function requireBash(): string {
  const bash = findProgram('bash')
  if (bash !== undefined) return bash
  throw new WorkspaceFailedError('provider-failed', 'the host has no bash')
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

/** Starts a program without reading its arguments, and with a shell's exit code when it cannot. */
const EXECUTE = 'exec -- "$@"'

function sandboxed(command: ShellCommand): readonly string[] {
  const bash = '/bin/bash'
  if (typeof command === 'string') return argumentsOf(command, bash)
  return [...argumentsOf(EXECUTE, bash), 'bash', ...command]
}

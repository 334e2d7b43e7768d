import { findProgram } from './host-programs.ts'
import {
  type HostCommand,
  type Isolation,
  KEPT_CAPABILITIES,
  limitScript,
  type Mount,
  type PrivateRoot,
} from './mount-plan.ts'

const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts']
const IDENTITY = ['--uid', '0', '--gid', '0', '--hostname', 'sandbox', '--chdir', '/workspace']

/** Private roots by bubblewrap; undefined where it is not installed. */
export function createBubblewrap(): Isolation | undefined {
  const bubblewrap = findProgram('bwrap')
  const setpriv = findProgram('setpriv')
  if (bubblewrap === undefined || (isRoot() && setpriv === undefined)) return undefined
  return {
    kind: 'bubblewrap',
    command: (root, argv) => ({
      ...asHostUser(root, setpriv, [bubblewrap, '--args', '3', ...program(root, argv)]),
      options: optionsOf(root).join('\0'),
    }),
  }
}

function optionsOf(root: PrivateRoot): string[] {
  return [
    ...NAMESPACES,
    ...IDENTITY,
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...KEPT_CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]),
    '--bind',
    root.directory,
    '/',
    ...root.mounts.flatMap(mountArguments),
  ]
}

function program(root: PrivateRoot, argv: readonly string[]): string[] {
  return ['--', '/bin/bash', '-c', limitScript(root.limits, 'exec "$@"'), 'container', ...argv]
}

function mountArguments(mount: Mount): string[] {
  if (mount.kind === 'read-only') return ['--ro-bind', mount.source, mount.target]
  return [`--${mount.kind}`, mount.target]
}

/** Becomes an ordinary user first: a container must not run as the root of the host. */
export function asHostUser(
  root: PrivateRoot,
  setpriv: string | undefined,
  argv: readonly string[],
): HostCommand {
  const [file = '', ...args] = argv
  if (root.hostUser === undefined || setpriv === undefined) return { file, args }
  const user = String(root.hostUser)
  return {
    file: setpriv,
    args: ['--reuid', user, '--regid', user, '--clear-groups', file, ...args],
  }
}

/** Whether this process has the rights of the host's root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

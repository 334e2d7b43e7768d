import { asHostUser, isRoot } from './bubblewrap.ts'
import { findProgram } from './host-programs.ts'
import {
  type Isolation,
  KEPT_CAPABILITIES,
  limitScript,
  type Mount,
  type PrivateRoot,
} from './mount-plan.ts'

const NAMESPACES = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
/** Runs as the first process of the new namespaces, still on the files of the host. */
const PREPARE = [
  'set -e',
  'path=$PATH',
  'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
  'hostname sandbox || true',
  'mount --bind "$root" "$root"',
]
const ENTER = [
  'cd "$root"',
  'mkdir -p .previous',
  'pivot_root . .previous',
  'cd /',
  'umount -l /.previous',
  'rmdir /.previous',
  'cd /workspace',
  'PATH=$path',
]
/** Runs as the first process inside the root: starts the program and reaps what it leaves. */
const FIRST_PROCESS = '"$@" & wait "$!"; exit "$?"'

/** Private roots by `unshare` and `mount` alone; undefined where this cannot work. */
export function createUnshare(options: {
  /** False where the kernel lets only root make namespaces. */
  readonly userNamespace: boolean
}): Isolation | undefined {
  const unshare = findProgram('unshare')
  const setpriv = findProgram('setpriv')
  if (unshare === undefined || setpriv === undefined) return undefined
  if (!options.userNamespace && !isRoot()) return undefined
  const flags = options.userNamespace ? ['--user', '--map-root-user', ...NAMESPACES] : NAMESPACES
  return {
    kind: 'unshare',
    command: (root, argv) => {
      const script = setupScript(root, options.userNamespace ? undefined : root.hostUser)
      const inner = ['/bin/bash', '-c', script, 'container', ...argv]
      const outer = [setpriv, '--pdeathsig', 'KILL', unshare, ...flags, ...inner]
      if (options.userNamespace) return asHostUser(root, setpriv, outer)
      return { file: setpriv, args: outer.slice(1) }
    },
  }
}

/** @param becomes the user to become inside, when there is no user namespace. */
function setupScript(root: PrivateRoot, becomes: number | undefined): string {
  const first = quote(limitScript(root.limits, FIRST_PROCESS))
  return [
    `root=${quote(root.directory)}`,
    ...PREPARE,
    ...root.mounts.flatMap(mountCommands),
    ...ENTER,
    `exec setpriv ${rights(becomes)} /bin/bash -c ${first} container "$@"`,
  ].join('\n')
}

function rights(becomes: number | undefined): string {
  const common = '--inh-caps=-all --no-new-privs'
  if (becomes !== undefined) {
    return `--reuid ${becomes} --regid ${becomes} --clear-groups --bounding-set=-all ${common}`
  }
  return `--bounding-set=-all,${KEPT_CAPABILITIES.map((name) => `+${name}`).join(',')} ${common}`
}

function mountCommands(mount: Mount): string[] {
  const target = `"$root"${quote(mount.target)}`
  if (mount.kind === 'dev') return deviceCommands(target)
  if (mount.kind === 'proc') return [`mkdir -p ${target}`, `mount -t proc proc ${target}`]
  const source = quote(mount.source)
  return [
    `if [ -d ${source} ]; then mkdir -p ${target}; fi`,
    `[ -e ${target} ] || { mkdir -p "$(dirname ${target})"; : > ${target}; }`,
    `mount --rbind ${source} ${target}`,
    // A mount from outside may have flags that must stay.
    `mount -o remount,bind,ro,nosuid,nodev ${target} || mount -o remount,bind,ro ${target}`,
  ]
}

function deviceCommands(target: string): string[] {
  return [
    `mkdir -p ${target}`,
    `mount -t tmpfs -o mode=755,nosuid tmpfs ${target}`,
    `mkdir ${target}/pts ${target}/shm`,
    `for name in ${DEVICES.join(' ')}; do : > ${target}/$name; mount --bind /dev/$name ${target}/$name; done`,
    `mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts ${target}/pts`,
    `mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs ${target}/shm`,
    `ln -s pts/ptmx ${target}/ptmx; ln -s /proc/self/fd ${target}/fd`,
    `for n in 0:stdin 1:stdout 2:stderr; do ln -s /proc/self/fd/\${n%%:*} ${target}/\${n##*:}; done`,
  ]
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** One thing that a private root shows at a path. */
export type Mount =
  | { readonly kind: 'read-only'; readonly source: string; readonly target: string }
  | { readonly kind: 'proc'; readonly target: string }
  | { readonly kind: 'dev'; readonly target: string }

/** What one container may use. */
export interface ContainerLimits {
  /** Processes and threads at once. */
  readonly processes: number
  /** Size of one file. */
  readonly fileBytes: number
  /** Writable memory of one process. */
  readonly memoryBytes: number
}

/** Everything needed to start a program in a root of its own. */
export interface PrivateRoot {
  /** Directory on the host that becomes `/`, writable. */
  readonly directory: string
  readonly mounts: readonly Mount[]
  readonly limits: ContainerLimits
  /** User on the host that owns the directory and runs the program, when the host runs as root. */
  readonly hostUser?: number
}

/** Where the socket of a container server is moved to, beside the root with this directory. */
export function socketOf(directory: string): string {
  return `${directory}.sock`
}

/** A command line for the host. */
export interface HostCommand {
  readonly file: string
  readonly args: readonly string[]
  /** What the program reads from its file descriptor 3. */
  readonly options?: string
}

/** Starts programs in a private root; each way of the kernel is one of these. */
export interface Isolation {
  readonly kind: 'bubblewrap' | 'unshare'
  /** The command line that runs `argv` as a child of the first process of a new pid namespace. */
  command(root: PrivateRoot, argv: readonly string[]): HostCommand
}

/** What a root keeps of its rights: enough to own its files, nothing that reaches the host. */
export const KEPT_CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
] as const

/**
 * Sets the limits and starts the program. Inside the user namespace on purpose: there the kernel
 * counts only the processes of this container.
 */
export function limitScript(limits: ContainerLimits, start: string): string {
  return [
    `ulimit -u ${limits.processes}`,
    `ulimit -f ${kibibytes(limits.fileBytes)}`,
    `ulimit -d ${kibibytes(limits.memoryBytes)}`,
    'ulimit -c 0',
    start,
  ].join('; ')
}

function kibibytes(bytes: number): number {
  return Math.max(1, Math.floor(bytes / 1024))
}

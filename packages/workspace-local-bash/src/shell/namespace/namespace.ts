import { spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { findSystemProgram } from '../find-program.ts'
import { initCommand } from './namespace-init.ts'
import {
  DEFAULT_MAX_PROCESSES,
  isInForce,
  PRINT_LIMITS,
  type ProcessLimit,
  processLimits,
} from './process-limit.ts'

const PROBE_MS = 5000

/** Lets a command see and reach the processes that it started, and none of the host. */
export interface Namespace {
  /** Limits the processes of a command; undefined where the host cannot. */
  readonly limit: ProcessLimit | undefined
  /**
   * What to start in the place of a command. Its only child is the first process inside.
   * @param maxProcesses Ignored where the host cannot limit them.
   */
  wrap(
    words: readonly string[],
    env: Readonly<Record<string, string>>,
    maxProcesses: number,
  ): {
    readonly file: string
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
  }
}

/** A namespace, or why this host gives none. */
export type NamespaceProbe =
  | { readonly namespace: Namespace; readonly reason?: undefined }
  | { readonly namespace?: undefined; readonly reason: string }

/** With these root could unmount the `/proc` of the namespace, or read the memory of the host. */
const LOST = ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio', 'sys_boot']
const LOST_ON_NEWER_KERNELS = ['bpf', 'perfmon', 'checkpoint_restore']

const OWN_PROCESSES = ['--pid', '--fork', '--kill-child', '--mount-proc']

let probed: Promise<NamespaceProbe> | undefined

/** Finds out once per process whether and how this user can make a namespace for processes. */
export function probeNamespace(): Promise<NamespaceProbe> {
  const isRoot = process.getuid?.() === 0
  probed ??= findNamespace({ find: findSystemProgram, isRoot, limits: processLimits(isRoot) })
  return probed
}

/** What a namespace is made with. */
export interface NamespaceHost {
  readonly isRoot: boolean
  /** Ways to limit its processes, best first. */
  readonly limits: readonly ProcessLimit[]
  find(program: string): string | undefined
}

/** Tries each way, with each limit and then without one, until a namespace is what it has to be. */
export async function findNamespace(host: NamespaceHost): Promise<NamespaceProbe> {
  const [unshare, shell] = [host.find('unshare'), host.find('sh')]
  if (unshare === undefined || shell === undefined) {
    return { reason: 'the program unshare is not installed' }
  }
  let reason = 'no way to make one is known'
  for (const words of waysToEnter(unshare, host)) {
    for (const limit of [...host.limits, undefined]) {
      const namespace = createNamespace(words, shell, limit)
      const problem = await problemOf(namespace)
      if (problem === undefined) return { namespace }
      reason = problem
    }
  }
  return { reason }
}

/** Programs and arguments that start what follows them in a namespace, best first. */
function waysToEnter(unshare: string, host: NamespaceHost): string[][] {
  if (!host.isRoot) return [[unshare, '--user', '--map-current-user', ...OWN_PROCESSES, '--']]
  const setpriv = host.find('setpriv')
  if (setpriv === undefined) return []
  // Root of the machine keeps its files; root of a container without the rights gets a user namespace.
  return [[], ['--user', '--map-root-user']].flatMap((user) =>
    [[...LOST, ...LOST_ON_NEWER_KERNELS], LOST].map((lost) => {
      const without = lost.map((name) => `-${name}`).join(',')
      const drop = [setpriv, '--bounding-set', without, '--inh-caps', without]
      return [unshare, ...user, ...OWN_PROCESSES, '--', ...drop, '--']
    }),
  )
}

function createNamespace(
  [file = '', ...enter]: readonly string[],
  shell: string,
  limit: ProcessLimit | undefined,
): Namespace {
  return {
    limit,
    wrap: (words, env, maxProcesses) => {
      const init = initCommand(words, env, limit?.(maxProcesses))
      return { file, args: [...enter, shell, ...init.args], env: init.env }
    },
  }
}

/** Why it does not work here; undefined when it does. */
async function problemOf(namespace: Namespace): Promise<string | undefined> {
  const words = [
    '/bin/sh',
    '-c',
    `readlink /proc/self/ns/pid; test -e /proc/1/cmdline && echo $PPID; ${PRINT_LIMITS}`,
  ]
  const wrapped = namespace.wrap(words, { PATH: '/usr/bin:/bin' }, DEFAULT_MAX_PROCESSES)
  const { said, complaint } = await outputOf(wrapped)
  const [place, parent, ...limits] = said.trim().split('\n')
  if (place === undefined || place === '') return lastLineOf(complaint) || 'it did not start'
  const isOwn = place !== readlinkSync('/proc/self/ns/pid') && parent === '1'
  if (!isOwn) return 'the namespace shows processes of the host'
  return namespace.limit === undefined || isInForce(limits)
    ? undefined
    : 'its processes cannot be limited'
}

async function outputOf({
  file,
  args,
  env,
}: ReturnType<Namespace['wrap']>): Promise<{ said: string; complaint: string }> {
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const
  const child = spawn(file, args, {
    env,
    stdio: [...stdio],
    timeout: PROBE_MS,
    killSignal: 'SIGKILL',
  })
  const outputs = [textOf(child.stdout), textOf(child.stderr)] as const
  const failure = await new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => resolve(''))
  })
  return { said: outputs[0](), complaint: outputs[1]() || failure }
}

function textOf(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  return () => text
}

function lastLineOf(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
}

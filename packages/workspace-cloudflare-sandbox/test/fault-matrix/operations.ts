// Every public operation of a workspace of this kind, each on files of its own, so that all of them
// can be under way at once and what became of each can be told afterwards.
import type { RemoteWorkspace } from '../testbed/bench.ts'

/** What happens to operations of one group is the same. */
export type Group = 'reads' | 'changes' | 'commands' | 'code' | 'snapshots' | 'forks' | 'attaching'

export interface Operation {
  readonly name: string
  readonly group: Group
  /** What the call is made with. */
  readonly run: (subject: Subject) => Promise<unknown>
  /** Bash, in the workspace: prints what there is now. Absent: the operation changes nothing. */
  readonly look?: string
  /** What it prints before and after the operation; anything else is half of it, or twice. */
  readonly before?: string
  readonly after?: string
  /** Its first call may not be made twice: such a call never starts a container. */
  readonly isOnce?: boolean
  /** Which sandbox it is about; default: that of the subject. */
  readonly sandboxOf?: (subject: Subject) => string
}

/** A workspace with all that the operations work on. */
export interface Subject {
  readonly ws: RemoteWorkspace
  /** Same session, its own handle. */
  readonly second: RemoteWorkspace
  readonly context: string
  readonly otherContext: string
  readonly process: string
  readonly otherProcess: string
  readonly snapshot: unknown
  readonly fork: { readonly ref: { readonly sandbox: string } }
}

const MIDDLE = 200_000
const LARGE = 2_000_000
const fill = (size: number): string => 'x'.repeat(size)
const count = (path: string): string => `wc -l < ${path} 2>/dev/null || echo 0`
const content = (path: string): string => `cat ${path}`
const state = (path: string): string => `[ -e ${path} ] && echo there || echo absent`
const WAITS_MS = { timeoutMs: 5000 }

const call =
  (method: string, ...given: readonly unknown[]) =>
  ({ ws }: Subject): Promise<unknown> =>
    ws.call(method, ...given)

/** Bash that makes what the operations work on. */
export const FIXTURE = [
  'echo kept > kept; mkdir -p tree/deep; echo leaf > tree/deep/leaf; echo other > tree/other',
  'for name in text middle large stream add edit; do echo old > "$name"; done',
  'echo x > victim; cp -r tree victims; echo moved > movable; cp -r tree movables',
].join('; ')

const reads: readonly Operation[] = [
  { name: 'fs.readFile', group: 'reads', run: call('fs.readFile', '/kept') },
  { name: 'fs.readStream', group: 'reads', run: call('fs.readStream', '/kept') },
  { name: 'fs.ls', group: 'reads', run: call('fs.ls', '/') },
  { name: 'fs.stat', group: 'reads', run: call('fs.stat', '/kept') },
  { name: 'fs.glob', group: 'reads', run: call('fs.glob', '**') },
  { name: 'fs.grep', group: 'reads', run: call('fs.grep', 'leaf') },
  { name: 'shell.list', group: 'reads', run: call('shell.list') },
  {
    name: 'shell.output',
    group: 'reads',
    run: ({ ws, process }) => ws.call('shell.output', process),
  },
]

const written = (name: string, size: number): Pick<Operation, 'look' | 'before' | 'after'> => ({
  look: `wc -c < ${name}`,
  before: '4',
  after: String(size),
})

const changes: readonly Operation[] = [
  {
    name: 'fs.writeFile',
    isOnce: true,
    group: 'changes',
    run: call('fs.writeFile', '/text', 'new\n'),
    look: content('text'),
    before: 'old',
    after: 'new',
  },
  {
    name: 'fs.writeFile of 200 kB',
    group: 'changes',
    run: call('fs.writeFile', '/middle', fill(MIDDLE)),
    ...written('middle', MIDDLE),
  },
  {
    name: 'fs.writeFile of 2 MB',
    group: 'changes',
    run: call('fs.writeFile', '/large', fill(LARGE)),
    ...written('large', LARGE),
  },
  {
    name: 'fs.writeStream',
    group: 'changes',
    run: call('fs.writeStream', '/stream', fill(MIDDLE)),
    ...written('stream', MIDDLE),
  },
  {
    name: 'fs.appendFile',
    isOnce: true,
    group: 'changes',
    run: call('fs.appendFile', '/add', 'x\n'),
    look: 'tr "\\n" " " < add',
    before: 'old ',
    after: 'old x ',
  },
  {
    name: 'fs.edit',
    group: 'changes',
    run: call('fs.edit', '/edit', 'old', 'new'),
    look: content('edit'),
    before: 'old',
    after: 'new',
  },
  {
    name: 'fs.mkdir',
    isOnce: true,
    group: 'changes',
    run: call('fs.mkdir', '/made'),
    look: state('made'),
    before: 'absent',
    after: 'there',
  },
  {
    name: 'fs.rm',
    isOnce: true,
    group: 'changes',
    run: call('fs.rm', '/victim'),
    look: state('victim'),
    before: 'there',
    after: 'absent',
  },
  {
    name: 'fs.rm of a tree',
    isOnce: true,
    group: 'changes',
    run: call('fs.rm', '/victims', { recursive: true }),
    look: 'find victims 2>/dev/null | wc -l',
    before: '4',
    after: '0',
  },
  {
    name: 'fs.move',
    isOnce: true,
    group: 'changes',
    run: call('fs.move', '/movable', '/moved'),
    look: 'cat movable 2>/dev/null && echo before; cat moved 2>/dev/null && echo after',
    before: 'moved\nbefore',
    after: 'moved\nafter',
  },
  {
    name: 'fs.move of a tree',
    isOnce: true,
    group: 'changes',
    run: call('fs.move', '/movables', '/movedtree'),
    look: 'find movables movedtree 2>/dev/null | sort | tr "\\n" " "',
    before: 'movables movables/deep movables/deep/leaf movables/other ',
    after: 'movedtree movedtree/deep movedtree/deep/leaf movedtree/other ',
  },
  {
    name: 'fs.copy',
    isOnce: true,
    group: 'changes',
    run: call('fs.copy', '/kept', '/copy'),
    look: 'cat copy 2>/dev/null || echo absent',
    before: 'absent',
    after: 'kept',
  },
  {
    name: 'fs.copy of a tree',
    isOnce: true,
    group: 'changes',
    run: call('fs.copy', '/tree', '/trees'),
    look: 'find trees 2>/dev/null | wc -l',
    before: '0',
    after: '4',
  },
]

const counted = (path: string): Pick<Operation, 'look' | 'before' | 'after'> => ({
  look: count(path),
  before: '0',
  after: '1',
})

const commands: readonly Operation[] = [
  {
    name: 'shell.run',
    isOnce: true,
    group: 'commands',
    run: call('shell.run', 'echo x >> ran', WAITS_MS),
    ...counted('ran'),
  },
  {
    name: 'shell.run, read while it runs',
    group: 'commands',
    run: call('shell.runLive', 'echo x >> live; echo told', WAITS_MS),
    ...counted('live'),
  },
  {
    name: 'shell.start',
    isOnce: true,
    group: 'commands',
    run: call('shell.start', 'echo x >> started'),
    ...counted('started'),
  },
  {
    name: 'shell.kill',
    group: 'commands',
    run: ({ ws, otherProcess }) => ws.call('shell.kill', otherProcess),
    look: 'grep -lzx "471[1]" /proc/[0-9]*/cmdline 2>/dev/null | wc -l',
    before: '1',
    after: '0',
  },
]

const python = (path: string): string => `open("/workspace/${path}", "a").write("x\\n")`

const code: readonly Operation[] = [
  {
    name: 'code.runCode',
    isOnce: true,
    group: 'code',
    run: call('code.runCode', 'python', python('coded')),
    ...counted('coded'),
  },
  {
    name: 'code.createContext',
    isOnce: true,
    group: 'code',
    run: call('code.createContext', 'python'),
  },
  {
    name: 'code.runInContext',
    isOnce: true,
    group: 'code',
    run: ({ ws, context }) => ws.call('code.runInContext', context, python('stateful')),
    ...counted('stateful'),
  },
  {
    name: 'code.deleteContext',
    group: 'code',
    run: ({ ws, otherContext }) => ws.call('code.deleteContext', otherContext),
  },
]

const snapshots: readonly Operation[] = [
  { name: 'snapshot.snapshot', group: 'snapshots', run: call('snapshot.snapshot') },
  {
    name: 'snapshot.restore',
    group: 'forks',
    run: ({ ws, snapshot }) => ws.call('snapshot.restore', snapshot),
  },
  {
    name: 'snapshot.branch',
    group: 'forks',
    run: ({ ws, snapshot }) => ws.call('snapshot.branch', snapshot),
  },
]

const attaching: readonly Operation[] = [
  { name: 'open', group: 'attaching', run: ({ second }) => second.open() },
  { name: 'resolve', group: 'attaching', run: ({ ws, second }) => second.resolve(ws.opened?.ref) },
  {
    name: 'resolve of a fork',
    group: 'attaching',
    run: ({ second, fork }) => second.resolve(fork),
    sandboxOf: ({ fork }) => fork.ref.sandbox,
  },
]

export const operations: readonly Operation[] = [
  ...reads,
  ...changes,
  ...commands,
  ...code,
  ...snapshots,
  ...attaching,
]

/** Makes what the operations work on. */
export async function prepareSubject(
  ws: RemoteWorkspace,
  second: RemoteWorkspace,
): Promise<Subject> {
  await ws.call('shell.run', FIXTURE)
  const start = async (command: readonly string[]): Promise<string> =>
    (await ws.call<{ id: string }>('shell.start', command)).id
  const [context, otherContext, process, otherProcess, snapshot] = await Promise.all([
    ws.call<string>('code.createContext', 'python'),
    ws.call<string>('code.createContext', 'python'),
    start(['sleep', '4710']),
    start(['sleep', '4711']),
    ws.call('snapshot.snapshot'),
  ])
  const fork = await ws.call<Subject['fork']>('snapshot.branch', snapshot)
  return { ws, second, context, otherContext, process, otherProcess, snapshot, fork }
}

/** What became of each operation that changes something: `before`, `after`, or what was seen. */
export async function lookAtAll(ws: RemoteWorkspace): Promise<ReadonlyMap<string, string>> {
  const looks = operations.filter(({ look }) => look !== undefined)
  const script = looks.map(({ look }) => `{ ${look}; } | base64 -w0; echo`).join('\n')
  const printed = (await ws.output(script)).split('\n')
  return new Map(
    looks.map((operation, index) => {
      const seen = atob(printed[index] ?? '').replace(/\n$/, '')
      return [operation.name, effectOf(operation, seen)]
    }),
  )
}

function effectOf({ before, after }: Operation, seen: string): string {
  if (seen === after) return 'done'
  return seen === before ? 'not done' : `neither: ${seen}`
}

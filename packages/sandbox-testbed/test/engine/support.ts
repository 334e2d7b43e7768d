import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isContainerOf } from '../../src/engine/container/container-name.ts'
import { startLocalEngine, type LocalEngine } from '../../src/engine/local-engine.ts'
import { FaultSet } from '../../src/faults/fault-set.ts'
import type { Isolation } from '../../src/root/mount-plan.ts'
import { removeTree } from '../../src/root/private-root.ts'

/**
 * In place of a private root: three shells, as deep as the real ones. The innermost is the server;
 * it leaves a mark on its disk and what looks like a socket.
 */
const SHELLS = `( (
  : > "$0/workspace/$BASHPID"
  sleep 1000 & sleep=$!
  trap 'kill "$sleep"; exit 7' TERM
  : > "$0/opt/testbed/server.sock"
  wait
) & wait "$!"; exit "$?" ) & wait "$!"; exit "$?"`

/** Containers that are shells of the host: quick, and nothing keeps them apart. */
export const SHELL_ISOLATION: Isolation = {
  kind: 'unshare',
  command: ({ directory }) => ({ file: '/bin/bash', args: ['-c', SHELLS, directory] }),
}

/** An engine with its own folder, and the calls that it takes. */
export interface EngineFixture {
  readonly engine: LocalEngine
  readonly faults: FaultSet
  /** Folder of the disks. */
  readonly disks: string
  call(method: string, path: string, body?: unknown): Promise<EngineAnswer>
  stop(): Promise<void>
}

export interface EngineAnswer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever is there
  readonly body: any
}

/** Starts an engine whose containers are shells, unless another way is given. */
export async function startShellEngine(isolation = SHELL_ISOLATION): Promise<EngineFixture> {
  const directory = mkdtempSync(join(tmpdir(), `helix-testbed-${process.pid}-`))
  chmodSync(directory, 0o711)
  const disks = join(directory, 'disks')
  mkdirSync(disks)
  chmodSync(disks, 0o711)
  const faults = new FaultSet(isContainerOf)
  const engine = await startLocalEngine({
    isolation,
    image: { mounts: [], links: new Map() },
    limits: { processes: 100, fileBytes: 2 ** 20, memoryBytes: 2 ** 30 },
    faults,
    serverVersion: '0.12.10',
    imageName: 'default',
    interpretersAhead: 0,
    directory: disks,
    socketPath: join(directory, 'engine.sock'),
  })
  return {
    engine,
    faults,
    disks,
    call: (method, path, body) => callEngine(engine.socketPath, `${method} ${path}`, body),
    stop: async () => {
      await engine.stop()
      await removeTree(directory)
    },
  }
}

/** One call of the Docker API. @param line method and path. */
export async function callEngine(
  socketPath: string,
  line: string,
  body?: unknown,
): Promise<EngineAnswer> {
  const [method, path] = line.split(' ')
  const sent = request({ socketPath, method, path, agent: false })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = await once(sent, 'response')
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  const isJson = text.startsWith('{') || text.startsWith('[')
  return { status: answer.statusCode, body: isJson ? JSON.parse(text) : text }
}

/** Children of this process whose command line holds a text. */
export function childrenWith(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      if (!status.includes(`\nPPid:\t${process.pid}\n`)) return false
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      // Ended meanwhile.
      return false
    }
  })
}

/** What the starts of containers left on their disks. */
export function marks(disks: string): string[] {
  return readdirSync(disks)
    .filter((name) => !name.endsWith('.sock'))
    .flatMap((name) => readdirSync(join(disks, name, 'workspace')))
}

import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseIsolation, sandboxTestbedAvailability } from '../../../src/root/choose-isolation.ts'
import {
  type ContainerImage,
  NODE_PATH,
  prepareImage,
  SERVER_PATH,
  SOCKET_PATH,
} from '../../../src/root/image.ts'
import { createPrivateRoot, removeTree } from '../../../src/root/private-root.ts'
import { spawnInside } from '../../../src/root/spawn-inside.ts'
import { provideServerFile } from '../../../src/server-bundle.ts'

const availability = await sandboxTestbedAvailability()

/** Why no server can be started here; undefined when it can. */
export const unavailable = availability.available ? undefined : availability.reason

const LIMITS = { processes: 512, fileBytes: 2 ** 31, memoryBytes: 2 ** 32 }

/** A server in a root of its own, where `/workspace` may be destroyed. */
export interface PrivateServer {
  readonly socketPath: string
  /** Resolves when the outermost process is gone. */
  readonly ended: Promise<unknown>
  /** Ends everything inside and removes the root. */
  stop(): Promise<void>
}

/** Starts the server as the test bed does. */
export async function startPrivateServer(kind: ContainerImage = 'default'): Promise<PrivateServer> {
  const directory = await mkdtemp(join(tmpdir(), 'helix-server-test-'))
  await chmod(directory, 0o711)
  const serverFile = join(directory, 'server.mjs')
  await provideServerFile(serverFile)
  const image = prepareImage(join(directory, 'image'), serverFile, kind)
  const root = createPrivateRoot({ directory: join(directory, 'root'), image, limits: LIMITS })
  const isolation = await chooseIsolation('auto')
  const socketPath = join(root.directory, SOCKET_PATH)
  const { child, stdout, stderr } = spawnInside(isolation.command(root, [NODE_PATH, SERVER_PATH]), {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/root',
    HELIX_TESTBED_SOCKET: SOCKET_PATH,
    HELIX_TESTBED_IMAGE: kind,
  })
  let said = ''
  for (const output of [stdout, stderr]) output.on('data', (text) => (said += String(text)))
  const ended = once(child, 'exit')
  while (!(await answers(socketPath))) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`)
    await sleep(20)
  }
  return {
    socketPath,
    ended,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await removeTree(directory)
    },
  }
}

/** Nobody tells when the server listens. */
async function answers(socketPath: string): Promise<boolean> {
  return (await statusOf(socketPath)) === 200
}

/** What a server answers; undefined while nobody listens. */
export async function statusOf(socketPath: string, path = '/'): Promise<number | undefined> {
  const sent = request({ socketPath, path }).end()
  try {
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    answer?.resume()
    return answer?.statusCode
  } catch {
    // Not yet.
    return undefined
  }
}

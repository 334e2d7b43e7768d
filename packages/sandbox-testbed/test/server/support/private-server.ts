import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseIsolation, sandboxTestbedAvailability } from '../../../src/root/choose-isolation.ts'
import { NODE_PATH, prepareImage, SERVER_PATH } from '../../../src/root/image.ts'
import { createPrivateRoot, removeTree } from '../../../src/root/private-root.ts'
import { spawnInside } from '../../../src/root/spawn-inside.ts'
import { provideServerFile } from '../../../src/server-bundle.ts'

const availability = await sandboxTestbedAvailability()

/** Why no server can be started here; undefined when it can. */
export const unavailable = availability.available ? undefined : availability.reason

const LIMITS = { processes: 512, fileBytes: 2 ** 31, memoryBytes: 2 ** 32 }

/** A server in a root of its own, where `/workspace` may be destroyed. */
export interface PrivateServer {
  readonly port: number
  /** Resolves when the outermost process is gone. */
  readonly ended: Promise<unknown>
  /** Ends everything inside and removes the root. */
  stop(): Promise<void>
}

/** Starts the server as the test bed does. */
export async function startPrivateServer(): Promise<PrivateServer> {
  const directory = await mkdtemp(join(tmpdir(), 'helix-server-test-'))
  await chmod(directory, 0o711)
  const serverFile = join(directory, 'server.mjs')
  await provideServerFile(serverFile)
  const image = prepareImage(join(directory, 'image'), serverFile)
  const root = createPrivateRoot({ directory: join(directory, 'root'), image, limits: LIMITS })
  const isolation = await chooseIsolation('auto')
  const port = await freePort()
  const { child, stdout, stderr } = spawnInside(isolation.command(root, [NODE_PATH, SERVER_PATH]), {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/root',
    HELIX_TESTBED_PORT: String(port),
  })
  let said = ''
  for (const output of [stdout, stderr]) output.on('data', (text) => (said += String(text)))
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`)
    await sleep(20)
  }
  return {
    port,
    ended,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await removeTree(directory)
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Nobody tells when the server listens. */
async function answers(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
  return response?.ok === true
}

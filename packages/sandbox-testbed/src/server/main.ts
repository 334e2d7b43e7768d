import { spawnSync } from 'node:child_process'
import { UNSQUASHFS_SHIM } from './backup/unsquashfs-shim.ts'
import { startContainerServer } from './container-server.ts'
import { startIngress } from './connection/ingress.ts'
import { EXECUTOR_MODE } from './interpreter/executor.ts'
import { JAVASCRIPT_EXECUTOR } from './interpreter/javascript-executor.ts'

/** The port of the server in the image of the SDK. */
const PORT = 3000

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'unsquashfs') unpack(rest)
else if (mode === EXECUTOR_MODE) await execute()
else if (mode?.startsWith('--')) await enter([mode, ...rest])
else await serve()

/** The container: serves until SIGTERM, in a private root on the socket of its options. */
async function serve(): Promise<void> {
  const server = await startContainerServer(process.env.HELIX_TESTBED_SOCKET ?? PORT)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      server.close()
      process.exit(0)
    })
  }
}

/** The sidecar of a container: workerd starts it with options, of which one is for us. */
async function enter(options: readonly string[]): Promise<void> {
  const address = options[options.indexOf('--http-ingress-address') + 1]
  await startIngress(address ?? '0.0.0.0:39001')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
}

/** A JavaScript executor. Not by `node -e`, which does not start in a directory that is gone. */
async function execute(): Promise<void> {
  await import(`data:text/javascript,${encodeURIComponent(JAVASCRIPT_EXECUTOR)}`)
}

/** Stands in for the program of that name, which the SDK runs to restore a backup. */
function unpack(args: readonly string[]): void {
  const shell = ['-c', UNSQUASHFS_SHIM, 'unsquashfs', ...args]
  const { status } = spawnSync('/bin/sh', shell, { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

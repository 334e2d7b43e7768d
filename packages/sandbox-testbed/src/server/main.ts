import { spawnSync } from 'node:child_process'
import { UNSQUASHFS_SHIM } from './backup/unsquashfs-shim.ts'
import { startContainerServer } from './container-server.ts'
import { startIngress } from './ingress.ts'

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'unsquashfs') unpack(rest)
else if (mode?.startsWith('--')) await carry([mode, ...rest])
else await serve()

/** The process inside a private root: serves on `HELIX_TESTBED_PORT` until SIGTERM. */
async function serve(): Promise<void> {
  const server = await startContainerServer(Number(process.env.HELIX_TESTBED_PORT ?? '3000'))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      server.close()
      process.exit(0)
    })
  }
}

/** The sidecar of a container: workerd starts it with options, of which one is for us. */
async function carry(options: readonly string[]): Promise<void> {
  const address = options[options.indexOf('--http-ingress-address') + 1]
  await startIngress(address ?? '0.0.0.0:39001')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
}

/** Stands in for the program of that name, which the SDK runs to restore a backup. */
function unpack(args: readonly string[]): void {
  const shell = ['-c', UNSQUASHFS_SHIM, 'unsquashfs', ...args]
  const { status } = spawnSync('/bin/sh', shell, { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

import { spawnSync } from 'node:child_process'
import { UNSQUASHFS_SHIM } from './backup/unsquashfs-shim.ts'
import { startContainerServer } from './container-server.ts'

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'unsquashfs') unpack(rest)
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

/** Stands in for the program of that name, which the SDK runs to restore a backup. */
function unpack(args: readonly string[]): void {
  const shell = ['-c', UNSQUASHFS_SHIM, 'unsquashfs', ...args]
  const { status } = spawnSync('/bin/sh', shell, { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

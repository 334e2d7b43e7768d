import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { load } from '../peers/load.ts'

const folder = join(import.meta.dirname, '../peers')

/** Installs the peers into their own folder; the workspace itself never carries them. */
export function installPeers(): void {
  if (existsSync(join(folder, 'node_modules'))) return
  console.log('installing the peers (about 450 MB, once) …')
  const args = ['-y', 'pnpm@12', 'install', '--frozen-lockfile']
  const { status } = spawnSync('npx', args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error('the peers could not be installed')
}

/** Loads a peer, or says why it is not there. Peers have no types here: callers name a shape. */
export async function loadPeer<Shape>(specifier: string): Promise<Shape | undefined> {
  try {
    return (await load(specifier)) as Shape
  } catch (error) {
    console.log(`without ${specifier}: ${String(error).split('\n')[0]}`)
    return undefined
  }
}

/** Folder of an installed package, for its files. */
export function peerFolder(name: string): string | undefined {
  const path = join(folder, 'node_modules', name)
  return existsSync(path) ? path : undefined
}

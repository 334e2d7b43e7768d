// Packs every public package into `.tarballs`: what `npm publish` would send. `pnpm tarballs`
// builds first; then any project can install from the folder.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFolders, readManifest, root } from './repository.ts'

export interface Packed {
  readonly folder: string
  readonly name: string
  readonly tarball: string
}

const execute = promisify(execFile)
export const tarballs = join(root, '.tarballs')

/** Packs the packages as they are built; an older set of tarballs is replaced. */
export async function packPackages(): Promise<readonly Packed[]> {
  rmSync(tarballs, { recursive: true, force: true })
  mkdirSync(tarballs)
  return (await Promise.all(packageFolders().map(pack))).flat()
}

async function pack(folder: string): Promise<Packed[]> {
  const manifest = readManifest(join('packages', folder))
  if (manifest.private) return []
  const tarball = join(tarballs, `${folder}.tgz`)
  await runQuietly('pnpm', ['pack', '--out', tarball], join(root, 'packages', folder))
  return [{ folder, name: manifest.name, tarball }]
}

/** The tarballs that the last `pnpm tarballs` left. */
export function packedPackages(): readonly Packed[] {
  return packageFolders().flatMap((folder) => {
    const tarball = join(tarballs, `${folder}.tgz`)
    return existsSync(tarball)
      ? [{ folder, name: readManifest(join('packages', folder)).name, tarball }]
      : []
  })
}

/** Shows what a program printed only when it failed. */
export async function runQuietly(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  await execute(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      const output = `${error.stdout ?? ''}${error.stderr ?? ''}`
      throw new Error(`${command} ${args.join(' ')} in ${cwd}\n${output}`, { cause: error })
    },
  )
}

if (import.meta.main) {
  const packed = await packPackages()
  console.log(`${packed.length} tarballs in ${tarballs}`)
}

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseTarGzip } from 'nanotar'
import * as z from 'zod'
import { CreateError } from './create-error.ts'

/** Names of packages → the `file:` address of their tarballs. */
export type LocalPackages = ReadonlyMap<string, string>

const manifestSchema = z.object({ name: z.string() })

/**
 * The tarballs of a folder, as `npm pack` and `pnpm tarballs` write them, by the names inside.
 * @throws {CreateError} `packages-invalid` for a folder without tarballs, and for a file that is none.
 */
export async function readLocalPackages(folder: string): Promise<LocalPackages> {
  const files = listTarballs(folder)
  if (files.length === 0) {
    throw new CreateError('packages-invalid', `${folder} holds no tarballs (*.tgz)`)
  }
  const named = await Promise.all(
    files.map(async (file) => [await nameInside(file), `file:${file}`] as const),
  )
  return new Map(named)
}

function listTarballs(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    return names.map((name) => join(resolve(folder), name))
  } catch (cause) {
    throw new CreateError('packages-invalid', `${folder} cannot be read as a folder`, { cause })
  }
}

async function nameInside(file: string): Promise<string> {
  try {
    const [manifest] = await parseTarGzip(readFileSync(file), { filter: isManifest })
    return manifestSchema.parse(JSON.parse(manifest?.text ?? '')).name
  } catch (cause) {
    throw new CreateError('packages-invalid', `${file} is not the tarball of a package`, { cause })
  }
}

function isManifest({ name }: { readonly name: string }): boolean {
  return name === 'package/package.json'
}

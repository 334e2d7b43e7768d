// Copies every example out of the repository, installs it with plain npm from the packed
// packages, and runs its scripts there: an example that works only in here is not one to copy.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { exampleManifests } from './example-versions.ts'
import { type Packed, packPackages, runQuietly } from './pack-packages.ts'
import { root } from './repository.ts'

interface ExampleManifest {
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The scripts that end by themselves, in the order in which they run. */
const checked = ['typecheck', 'test', 'story'] as const
/** `start` ends by itself here; elsewhere it is a server. */
const programs = new Set(['quick-start', 'custom-provider', 'workspaces-showcase'])
/** Made by a run or an install in the repository. */
const leftBehind = new Set(['node_modules', 'dist', '.data', '.wrangler'])

const packed = await packPackages()
const only = process.argv.slice(2)
const folders = exampleManifests()
  .map((file) => dirname(file))
  .filter((folder) => only.length === 0 || only.includes(basename(folder)))
for (const folder of folders) await check(folder)
console.log(`ok: ${folders.length} examples copied out, installed and run`)

async function check(folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'helix-example-'))
  try {
    const filter = (path: string): boolean => !leftBehind.has(basename(path))
    cpSync(join(root, folder), place, { recursive: true, filter })
    const manifest = fromTarballs(join(place, 'package.json'), packed)
    await runQuietly('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], place)
    const name = basename(folder)
    const scripts = [...checked, ...(programs.has(name) ? ['start'] : [])]
    const present = scripts.filter((script) => manifest.scripts?.[script] !== undefined)
    if (present.every((script) => script === 'typecheck')) throw new Error(`${name}: nothing runs`)
    for (const script of present) await runQuietly('npm', ['run', script], place)
    console.log(`${name}: ${present.join(', ')}`)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Until the packages are on npm, our versions mean the tarballs beside the repository. */
function fromTarballs(file: string, packages: readonly Packed[]): ExampleManifest {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as ExampleManifest
  const overrides = Object.fromEntries(packages.map((one) => [one.name, `file:${one.tarball}`]))
  const local = (versions: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [name, overrides[name] ?? version]),
    )
  const next = {
    ...manifest,
    dependencies: local(manifest.dependencies),
    devDependencies: local(manifest.devDependencies),
    overrides: transitive(manifest, overrides),
  }
  writeFileSync(file, JSON.stringify(next))
  return manifest
}

/** npm refuses an override of a direct dependency that differs in spelling; those stand there already. */
function transitive(
  manifest: ExampleManifest,
  overrides: Readonly<Record<string, string>>,
): Record<string, string> {
  const direct = { ...manifest.dependencies, ...manifest.devDependencies }
  return Object.fromEntries(Object.entries(overrides).filter(([name]) => !(name in direct)))
}

// The examples are made to be copied: their manifests name versions that plain npm understands.
// `node scripts/example-versions.ts` writes those of the catalog and of our packages into them;
// the layout test compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { find, read, readManifest, root } from './repository.ts'

type Versions = Readonly<Record<string, string>>

interface ExampleManifest {
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
}

/** The manifests of the examples. */
export function exampleManifests(): string[] {
  return find('examples/*/package.json')
}

/** The manifest with the versions that this repository uses. */
export function withVersions(text: string): string {
  const manifest = JSON.parse(text) as ExampleManifest
  const catalog = (parse(read('pnpm-workspace.yaml')) as { catalog: Versions }).catalog
  const own = `^${readManifest('packages/core').version}`
  const pinned = (versions: Versions): Versions =>
    Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [
        name,
        name.startsWith('@helix-agents/') ? own : (catalog[name] ?? version),
      ]),
    )
  const { dependencies, devDependencies } = manifest
  const next = {
    ...manifest,
    ...(dependencies && { dependencies: pinned(dependencies) }),
    ...(devDependencies && { devDependencies: pinned(devDependencies) }),
  }
  return `${JSON.stringify(next, null, 2)}\n`
}

if (import.meta.main) {
  for (const file of exampleManifests()) writeFileSync(join(root, file), withVersions(read(file)))
}

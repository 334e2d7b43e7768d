// Publishes every package to a registry as a release does, and checks what has arrived there.
import { packageFolders, readManifest, root } from '../repository.ts'
import { type Newcomer, typed } from './newcomer.ts'

/** What npm and its readers want of a package; `repository` is also what provenance compares. */
const WANTED = ['description', 'license', 'repository', 'homepage', 'bugs', 'keywords', 'engines']

interface PublishedManifest {
  readonly [field: string]: unknown
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

interface Published {
  readonly 'dist-tags': Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, PublishedManifest>>
  readonly readme?: string
}

/** @returns the names that are in the registry now. */
export async function publishAll({ place, env }: Newcomer, registry: string): Promise<string[]> {
  const manifests = packageFolders().map((folder) => readManifest(`packages/${folder}`))
  const names = manifests.filter((one) => one.private !== true).map(({ name }) => name)
  // The pnpm of this run is on its path.
  const publisher = { place, env: { ...env, PATH: process.env.PATH } }
  // Changesets marks a release by tags of git, which a rehearsal must not leave.
  await typed(publisher, `${root}/node_modules/.bin/changeset publish --no-git-tag`, { cwd: root })
  const problems = await Promise.all(names.map(async (name) => problemsOf(name, registry)))
  const found = problems.flat()
  if (found.length > 0) throw new Error(`published, but\n${found.join('\n')}`)
  return names
}

async function problemsOf(name: string, registry: string): Promise<string[]> {
  const response = await fetch(registry + name.replace('/', '%2f'))
  if (!response.ok) return [`${name} is not in the registry: ${response.status}`]
  const { versions, readme = '', ...rest } = (await response.json()) as Published
  const manifest = versions[rest['dist-tags'].latest ?? '']
  if (manifest === undefined) return [`${name} has no version`]
  const missing = WANTED.filter((field) => isEmpty(manifest[field]))
  const versionsOf = { ...manifest.dependencies, ...manifest.peerDependencies }
  const unresolved = Object.entries(versionsOf).filter(([, range]) =>
    /^(?:workspace|catalog|file):/.test(range),
  )
  return [
    ...missing.map((field) => `${name} has no ${field}`),
    ...unresolved.map(([each, range]) => `${name} depends on ${each}@${range}`),
    ...(readme.length < 100 ? [`${name} has no README`] : []),
  ]
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

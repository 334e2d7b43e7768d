import * as z from 'zod'
import type { LocalPackages } from './local-packages.ts'

const versionsSchema = z.record(z.string(), z.string())
const manifestSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  dependencies: versionsSchema,
  devDependencies: versionsSchema,
})

/** The `package.json` of a project: that of its template, under its own name. */
export function projectManifest(text: string, name: string, local?: LocalPackages): string {
  const {
    description: _,
    dependencies,
    devDependencies,
    ...rest
  } = manifestSchema.parse(JSON.parse(text))
  const direct = { ...dependencies, ...devDependencies }
  // npm rejects an override of a direct dependency.
  const others = [...(local ?? [])].filter(([each]) => !Object.hasOwn(direct, each))
  const manifest = {
    ...rest,
    name,
    version: '0.0.0',
    dependencies: fromTarballs(dependencies, local),
    devDependencies: fromTarballs(devDependencies, local),
    ...(others.length > 0 && { overrides: Object.fromEntries(others) }),
  }
  return `${JSON.stringify(ordered(manifest), null, 2)}\n`
}

function fromTarballs(versions: Readonly<Record<string, string>>, local?: LocalPackages) {
  const entries = Object.entries(versions)
  return Object.fromEntries(entries.map(([name, version]) => [name, local?.get(name) ?? version]))
}

/** The name and the version first, as npm writes them. */
function ordered({ name, version, ...rest }: { name: string; version: string }) {
  return { name, version, ...rest }
}

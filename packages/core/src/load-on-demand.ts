import { onDemand } from './door.ts'
import { onDemand as onDemandOfModules } from './modules/door.ts'

/**
 * Loads what core otherwise loads with its first use: the work of tools, previews, snapshots, and the
 * libraries of regular expressions and diffs.
 */
export async function loadOnDemand(): Promise<void> {
  const libraries = [import('re2js'), import('diff/lib/patch/create.js')]
  await Promise.all([onDemand(), onDemandOfModules(), ...libraries])
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @returns the test files that take a sample of something longer, relative to the folder. */
export function filesWithSamples(root: string): readonly string[] {
  const patterns = [
    'packages/*/test/**/*.test.ts',
    '{examples,scripts}/**/*.test.ts',
    'bench/*.test.ts',
  ]
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((file) => /\bnew TestSampler\(\)/.test(readFileSync(join(root, file), 'utf8')))
    .toSorted()
}

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Lets CommonJS dependencies inside the one file find modules of Node. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/**
 * The container server as one file that needs nothing else: built beforehand in the published
 * package, made from source here.
 *
 * @param target where to write the file when it has to be made.
 * @returns the file to use.
 */
export async function provideServerFile(target: string): Promise<string> {
  const source = fileURLToPath(new URL('./server/main.ts', import.meta.url))
  if (!existsSync(source)) return fileURLToPath(new URL('./server/main.js', import.meta.url))
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    conditions: ['@helix-agents/source'],
    banner: { js: REQUIRE },
    logLevel: 'silent',
  })
  await writeFile(target, outputFiles[0]?.contents ?? '', { mode: 0o644 })
  return target
}

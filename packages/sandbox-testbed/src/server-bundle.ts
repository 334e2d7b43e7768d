import { existsSync } from 'node:fs'
import { chmod, copyFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SandboxTestbedError } from './testbed-error.ts'

/** Lets CommonJS dependencies inside the one file find modules of Node. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Made once in a process: the sources do not change in between. */
let bundled: Promise<Uint8Array> | undefined

/**
 * The container server as one file that needs nothing else: built beforehand in the published
 * package, made from source here.
 *
 * @param target where to write the file. Containers run as other users, who may not reach the
 *   folder of the package.
 * @throws {SandboxTestbedError} installation-incomplete
 */
export async function provideServerFile(target: string): Promise<void> {
  const source = fileURLToPath(new URL('./server/main.ts', import.meta.url))
  const built = fileURLToPath(new URL('./server/main.js', import.meta.url))
  if (existsSync(source)) {
    bundled ??= bundle(source)
    await writeFile(target, await bundled)
  } else {
    await copyBuilt(built, target)
  }
  await chmod(target, 0o644)
}

async function copyBuilt(built: string, target: string): Promise<void> {
  try {
    await copyFile(built, target)
  } catch (error) {
    const text = `the container server is missing: ${String(error)}. Install the package again`
    throw new SandboxTestbedError('installation-incomplete', text, { cause: error })
  }
}

async function bundle(source: string): Promise<Uint8Array> {
  const { build } = await import('esbuild')
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
  return outputFiles[0]?.contents ?? new Uint8Array()
}

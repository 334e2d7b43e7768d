import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { ChatParts } from './app.ts'

/** The page, its script with all that it imports, and its style. */
export async function bundlePage(): Promise<ChatParts['page']> {
  const page = join(import.meta.dirname, 'page')
  const { outputFiles } = await build({
    entryPoints: [join(page, 'chat.ts'), join(page, 'chat.css')],
    outdir: page,
    bundle: true,
    // Reads @helix-agents from source inside its repository, and changes nothing elsewhere.
    conditions: ['@helix-agents/source'],
    write: false,
    format: 'esm',
    minify: true,
    logLevel: 'silent',
  })
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ''
  const html = readFileSync(join(page, 'index.html'), 'utf8')
  return { html, script: textOf('.js'), style: textOf('.css') }
}

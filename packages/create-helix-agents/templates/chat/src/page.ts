import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Hono } from 'hono'

const folder = join(import.meta.dirname, '../page')

/** Bundles the page once, and serves it. */
export async function addPage(app: Hono): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.tsx')],
    bundle: true,
    conditions: ['@helix-agents/source'], // not published
    write: false,
    format: 'esm',
    jsx: 'automatic',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const script = outputFiles[0]?.text ?? ''
  app.get('/', (context) => context.html(html))
  app.get('/main.js', (context) => {
    return context.body(script, 200, { 'content-type': 'text/javascript' })
  })
}

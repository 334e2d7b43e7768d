// The dashboard as text inside the package: a Worker has no files to serve. `pnpm dashboard:gen`
// writes the module; a test compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { read, root } from './repository.ts'

const page = 'packages/sandbox-fleet/src/dashboard/page'
export const assetsFile = 'packages/sandbox-fleet/src/dashboard/assets.ts'

/** The module that holds the page, its style sheet and its script: three lines of text. */
export function renderAssets(): string {
  const texts = {
    DASHBOARD_PAGE: read(`${page}/index.html`),
    DASHBOARD_STYLE: bundled('dashboard.css'),
    DASHBOARD_SCRIPT: bundled('main.ts'),
  }
  const constants = Object.entries(texts).map(
    ([name, text]) => `export const ${name}: string =\n  ${quoted(text.trimEnd())}\n`,
  )
  return ['// Made by `pnpm dashboard:gen` from `page/`. Do not edit.\n', ...constants].join('')
}

function bundled(file: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, page, file)],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** As the formatter writes a string. */
function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  const single = escaped.split("'").length - 1
  const double = escaped.split('"').length - 1
  if (single > double) return `"${escaped.replaceAll('"', '\\"')}"`
  return `'${escaped.replaceAll("'", "\\'")}'`
}

if (import.meta.main) writeFileSync(join(root, assetsFile), renderAssets())

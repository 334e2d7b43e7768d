// The dashboard as text inside the package: a Worker has no files to serve. `pnpm dashboard:gen`
// writes the module; a test compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { read, root } from './repository.ts'

const page = 'packages/sandbox-fleet/src/dashboard/page'
export const assetsFile = 'packages/sandbox-fleet/src/dashboard/assets.ts'

/** The module that holds the page, its style sheet and its script. */
export function renderAssets(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, page, 'main.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
  })
  const script = (outputFiles[0]?.text ?? '').replaceAll(/^\/\/ .*\n/gm, '')
  return [
    '// Made by `pnpm dashboard:gen` from `page/`. Do not edit.',
    '',
    ...constant('DASHBOARD_PAGE', read(`${page}/index.html`)),
    ...constant('DASHBOARD_STYLE', read(`${page}/dashboard.css`)),
    ...constant('DASHBOARD_SCRIPT', script),
  ].join('\n')
}

/** One string a line, so that a change can be read in a diff. */
function constant(name: string, text: string): string[] {
  const lines = text.trimEnd().split('\n')
  return [`export const ${name}: string = [`, ...lines.map(quoted), "].join('\\n')", '']
}

function quoted(line: string): string {
  const text = line.replaceAll('\\', '\\\\')
  if (!text.includes("'")) return `  '${text}',`
  if (!text.includes('"')) return `  "${text}",`
  return `  '${text.replaceAll("'", "\\'")}',`
}

if (import.meta.main) writeFileSync(join(root, assetsFile), renderAssets())

// The scripts that the sandbox provider runs in a container, as text inside the package: a Worker has no
// files to read. `pnpm sandbox:gen` writes the module; a test compares.
import { execFileSync } from 'node:child_process'
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { read, root } from '../repository.ts'

const folder = 'packages/workspace-cloudflare-sandbox/src/driver/script'
export const scriptsFile = `${folder}/scripts.generated.ts`

/** The scripts, relative to the repository. */
export function scriptFiles(): readonly string[] {
  return globSync(`${folder}/bash/*.sh`, { cwd: root }).toSorted()
}

/** By their names, without comments and indentation: each call sends what it needs. */
export function readScripts(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    scriptFiles().map((file) => [basename(file, '.sh'), stripped(read(file))]),
  )
}

function renderScripts(): string {
  return `// Made by \`pnpm sandbox:gen\` from \`bash/\`. Do not edit.
export const SCRIPTS = ${JSON.stringify(readScripts(), undefined, 2)} as const

export type ScriptName = keyof typeof SCRIPTS
`
}

/** No script has a text of several lines in it. */
function stripped(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n') + '\n'
}

if (import.meta.main) {
  writeFileSync(join(root, scriptsFile), renderScripts())
  execFileSync(join(root, 'node_modules/.bin/oxfmt'), ['--write', scriptsFile], { cwd: root })
}

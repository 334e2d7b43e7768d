// Runs every `ts run` fence of the docs as a reader would: saved to a file, with plain Node. A
// program must end by itself with code 0, and print something; that it is what the page shows, the
// tests of the pages compare (`doc-snippets.ts`).
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { pagesWithSnippets, snippetsOf } from './doc-snippets.ts'
import { root } from './repository.ts'

interface Program {
  readonly page: string
  readonly line: number
  readonly code: string
}

const execute = promisify(execFile)
/** A program of a page that waits for something that never comes. */
const timeout = 60_000
// Beside the packages that the pages import.
const place = mkdtempSync(join(root, 'docs/.programs-'))
const only = process.argv.slice(2)
const queue = pagesWithSnippets('docs')
  .filter((page) => only.length === 0 || only.some((part) => page.includes(part)))
  .flatMap(programsOf)
const count = queue.length
const failures: string[] = []

await Promise.all(Array.from({ length: availableParallelism() }, work))
rmSync(place, { recursive: true, force: true })
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1
else console.log(`ok: ${count} programs of the docs end well`)

function programsOf(page: string): Program[] {
  const text = readFileSync(join(root, page), 'utf8')
  return snippetsOf(text).map(({ line, code }) => ({ page, line, code }))
}

async function work(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const failure = await run(next)
    if (failure !== null) failures.push(`${next.page}:${next.line}: ${failure}`)
  }
}

async function run({ page, line, code }: Program): Promise<string | null> {
  const file = join(place, `${basename(page, '.md')}-${line}.mts`)
  writeFileSync(file, code)
  const args = ['--conditions=@helix-agents/source', file]
  try {
    const { stdout } = await execute(process.execPath, args, { cwd: place, timeout })
    return stdout === '' ? 'prints nothing' : null
  } catch (error) {
    const { code: exit, stderr = '' } = error as { code?: unknown; stderr?: string }
    return `exits with ${String(exit)}\n${stderr.slice(-1500)}`
  }
}

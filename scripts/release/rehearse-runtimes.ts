// Other runtimes than Node: Bun makes, installs and tests the chat; where commands would be needed,
// Bun and Deno say that they run in Node only.
import { join } from 'node:path'
import { type Newcomer, programOf, typed } from './newcomer.ts'

const BUN = '1.4.5'
const DENO = '2.9.6'
const ONLY_NODE = 'commands run in Node only'

/** The folders of their programs, from npm. */
export async function otherRuntimes(): Promise<string[]> {
  return [await programOf('bun', BUN), await programOf('deno', DENO)]
}

export async function rehearseRuntimes(newcomer: Newcomer): Promise<void> {
  const { place } = newcomer
  await typed(newcomer, 'bun create helix-agents bun-chat --template chat', { cwd: place })
  await typed(newcomer, 'bun test', { cwd: join(place, 'bun-chat') })
  await typed(newcomer, 'bun create helix-agents terminal --template terminal', { cwd: place })
  for (const start of ['bun', 'deno run -A']) {
    const command = `${start} src/main.ts "Buy oranges" || true`
    const output = await typed(newcomer, command, { cwd: join(place, 'terminal') })
    if (!output.includes(ONLY_NODE)) throw new Error(`$ ${command}\n${output}`)
  }
}

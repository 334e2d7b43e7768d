// What the documentation says beside Node with npm: Bun and Deno run what needs no processes, pnpm
// and Bun create and install, and a folder of tarballs serves without a network.
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packPackages } from '../pack-packages.ts'
import { root } from '../repository.ts'
import { type Newcomer, programOf, typed } from './newcomer.ts'

const BUN = '1.4.5'
const DENO = '2.9.6'
const PNPM = '12.21.0'
const ONLY_NODE = 'commands run in Node only'

/** The folders of their programs, from npm. */
export async function otherPrograms(): Promise<string[]> {
  return [await programOf('bun', BUN), await programOf('deno', DENO), await programOf('pnpm', PNPM)]
}

/** Files, shell and code in memory, and the chat; the terminal says why it does not run. */
export async function rehearseRuntimes(newcomer: Newcomer): Promise<void> {
  const { place } = newcomer
  const everywhere = join(place, 'everywhere')
  mkdirSync(everywhere)
  cpSync(join(root, 'scripts/release/programs/everywhere.mts'), join(everywhere, 'main.mts'))
  const packages = ['sdk', 'shell-just-bash', 'code-quickjs'].map((name) => `@helix-agents/${name}`)
  await typed(newcomer, `npm init -y && npm install ${packages.join(' ')}`, { cwd: everywhere })
  for (const start of ['node', 'bun', 'deno run -A']) {
    await expectOutput(newcomer, { command: `${start} main.mts`, cwd: everywhere, text: 'APPLE\n' })
  }
  await typed(newcomer, 'bun create helix-agents chat --template chat', { cwd: place })
  await typed(newcomer, 'bun test', { cwd: join(place, 'chat') })
  await typed(newcomer, 'deno test -A --no-check', { cwd: join(place, 'chat') })
  await typed(newcomer, 'bun create helix-agents terminal --template terminal', { cwd: place })
  for (const start of ['bun', 'deno run -A']) {
    const command = `${start} src/main.ts "Buy oranges" || true`
    await expectOutput(newcomer, { command, cwd: join(place, 'terminal'), text: ONLY_NODE })
  }
}

/** pnpm creates, installs, tests and runs; then the same from tarballs, with what is in the cache. */
export async function rehearseInstallers(newcomer: Newcomer): Promise<void> {
  const { place, env } = newcomer
  const text = 'Notes so far: 1.'
  await typed(newcomer, 'pnpm create helix-agents with-pnpm --template terminal', { cwd: place })
  const cwd = join(place, 'with-pnpm')
  await expectOutput(newcomer, { command: 'pnpm start "Buy oranges"', cwd, text })
  await typed(newcomer, 'pnpm test && pnpm typecheck', { cwd })

  await packPackages()
  const tarballs = join(root, '.tarballs')
  const create = `npx -y --package=${tarballs}/create-helix-agents.tgz create-helix-agents`
  const command = `${create} from-tarballs --template terminal --packages ${tarballs}`
  // Fills the cache of npm, as a machine has it that goes on a journey.
  await typed(newcomer, `${command} && rm -r from-tarballs`, { cwd: place })
  const offline = { place, env: { ...env, npm_config_offline: 'true' } }
  await typed(offline, command, { cwd: place })
  const start = { command: 'npm start -- "Buy oranges"', cwd: join(place, 'from-tarballs'), text }
  await expectOutput(offline, start)
}

interface Expected {
  readonly command: string
  readonly cwd: string
  /** What it prints. */
  readonly text: string
}

async function expectOutput(newcomer: Newcomer, { command, cwd, text }: Expected): Promise<void> {
  const output = await typed(newcomer, command, { cwd })
  if (!output.includes(text)) throw new Error(`$ ${command}\n${output}`)
}

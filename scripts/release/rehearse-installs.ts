// The commands that pages print to install packages of ours, typed as printed.
import { copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printedFences } from '../commands/printed-commands.ts'
import { packageFolders, readManifest, root } from '../repository.ts'
import { startLocalModel } from './local-model.ts'
import { type Newcomer, typed } from './newcomer.ts'

/** The first program of a newcomer. */
const FIRST = /^npm install @helix-agents\/sdk @/
const GLOBAL = /^npm install --global /

/**
 * Types each of them: the first one in a folder of its own, as a reader of the first page does; the
 * others in one project, which in the end has every package and type-checks against them.
 * @returns how many commands were typed.
 */
export async function rehearseInstalls({ place, env }: Newcomer): Promise<number> {
  // Each command finds what the one before has fetched.
  const newcomer = { place, env: { ...env, npm_config_prefer_offline: 'true' } }
  const commands = new Set(
    printedFences()
      .flatMap((fence) => fence.commands.map(({ command }) => command))
      .filter((command) => /^npm install .*@helix-agents\//.test(command)),
  )
  const cwd = join(place, 'all')
  mkdirSync(cwd)
  await typed(newcomer, 'npm init -y', { cwd })
  for (const command of commands) {
    if (FIRST.test(command)) await runFirstProgram(newcomer, command)
    else if (GLOBAL.test(command)) await runGlobal(newcomer, command)
    else await typed(newcomer, command, { cwd })
  }
  await checkTypes(newcomer, cwd)
  return commands.size
}

/** The program that stands beside the command, with a model of this machine. */
async function runFirstProgram({ place, env }: Newcomer, command: string): Promise<void> {
  const cwd = join(place, 'first')
  mkdirSync(cwd)
  const run = { tool: 'workspace__box__run', input: { command: 'echo 2 3 5 7 > primes.txt' } }
  const model = await startLocalModel([run, 'They are in primes.txt.'])
  try {
    copyFileSync(join(root, 'examples/quick-start/folder.ts'), join(cwd, 'main.mts'))
    const variables = { MODEL: 'tiny', MODEL_BASE_URL: model.url }
    const newcomer = { place, env: { ...env, ...variables } }
    await typed(newcomer, `npm init -y && ${command}`, { cwd })
    await typed(newcomer, 'npm install @ai-sdk/openai-compatible', { cwd })
    const output = await typed(newcomer, 'node main.mts', { cwd })
    const [made] = globSync('work/**/primes.txt', { cwd })
    if (output !== 'They are in primes.txt.\ncompleted\n' || made === undefined) {
      throw new Error(`the first program prints\n${output}`)
    }
  } finally {
    model.close()
  }
}

/** What is global on the machine of a newcomer is in a folder of theirs. */
async function runGlobal({ place, env }: Newcomer, command: string): Promise<void> {
  const prefix = join(place, 'global')
  const PATH = `${join(prefix, 'bin')}:${env.PATH}`
  const newcomer = { place, env: { ...env, PATH, npm_config_prefix: prefix } }
  await typed(newcomer, `${command} && helix --help`, { cwd: place })
}

/** Every entry point of every package, strict and without `skipLibCheck`; ours must be right. */
async function checkTypes(newcomer: Newcomer, cwd: string): Promise<void> {
  const manifests = packageFolders().map((folder) => readManifest(`packages/${folder}`))
  const published = manifests.filter(
    ({ name, private: isPrivate }) => isPrivate !== true && name.startsWith('@'),
  )
  const entries = published.flatMap(({ name, exports = {} }) =>
    Object.keys(exports)
      .filter((path) => !/\.(?:json|css)$/.test(path))
      .map((path) => join(name, path)),
  )
  const lines = entries.map((entry, index) => `import type * as e${index} from '${entry}'`)
  const uses = entries.map((_, index) => `keyof typeof e${index}`)
  writeFileSync(
    join(cwd, 'all.mts'),
    `${lines.join('\n')}\nexport type All = ${uses.join(' | ')}\n`,
  )
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    types: ['node', '@cloudflare/workers-types'],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  }
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['all.mts'] }))
  const peers = manifests.flatMap(({ peerDependencies = {} }) => Object.entries(peerDependencies))
  const tools = ['typescript', '@types/node'].map(
    (name) => [name, readManifest(`node_modules/${name}`).version] as const,
  )
  const wanted = [...new Map([...peers, ...tools])].filter(([name]) => !name.startsWith('@helix'))
  const names = wanted.map(([name, range]) => `'${name}@${range}'`)
  // Also those that no page installs, such as the CLI, which pages install globally.
  const ours = published.map(({ name }) => name)
  await typed(newcomer, `npm install --save-dev ${[...ours, ...names].join(' ')}`, { cwd })
  const output = await typed(newcomer, 'npx --no-install tsc -p . || true', { cwd })
  const wrong = output.split('\n').filter((line) => /@helix-agents\/|^all\.mts/.test(line))
  if (wrong.length > 0) throw new Error(`types of ours are wrong\n${wrong.join('\n')}`)
}

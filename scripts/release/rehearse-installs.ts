// The commands that pages print to install packages of ours, typed as printed.
import { copyFileSync, globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { printedFences } from '../commands/printed-commands.ts'
import { root } from '../repository.ts'
import { startLocalModel } from './local-model.ts'
import { type Newcomer, typed } from './newcomer.ts'

/** The first program of a newcomer; `--all` types every other command too. */
const FIRST = /^npm install @helix-agents\/sdk /

/** @returns how many commands were typed. */
export async function rehearseInstalls(newcomer: Newcomer, isWhole: boolean): Promise<number> {
  const commands = new Set(
    printedFences()
      .flatMap((fence) => fence.commands.map(({ command }) => command))
      .filter((command) => /^npm install (?!--global).*@helix-agents\//.test(command))
      .filter((command) => isWhole || FIRST.test(command)),
  )
  for (const [index, command] of [...commands].entries()) {
    const cwd = join(newcomer.place, `install-${index}`)
    mkdirSync(cwd)
    await typed(newcomer, `npm init -y >/dev/null && ${command}`, { cwd })
    if (FIRST.test(command)) await runFirstProgram(newcomer, cwd)
  }
  return commands.size
}

/** The program that stands beside the command, with a model of this machine. */
async function runFirstProgram({ place, env }: Newcomer, cwd: string): Promise<void> {
  const run = { tool: 'workspace__box__run', input: { command: 'echo 2 3 5 7 > primes.txt' } }
  const model = await startLocalModel([run, 'They are in primes.txt.'])
  try {
    copyFileSync(join(root, 'examples/quick-start/folder.ts'), join(cwd, 'main.mts'))
    const variables = { MODEL: 'tiny', MODEL_BASE_URL: model.url }
    const newcomer = { place, env: { ...env, ...variables } }
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

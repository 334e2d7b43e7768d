// The commands that make a package: `pnpm new-provider acme`, `pnpm new-store acme`.
import { execFileSync } from 'node:child_process'
import { root } from '../repository.ts'

/** Runs a generator for the id on the command line and prints what it wrote and what comes next. */
export function runGenerator(
  name: string,
  generate: (made: { readonly root: string; readonly id: string }) => string[],
  nextSteps: (id: string) => string,
): void {
  const [id] = process.argv.slice(2)
  if (id === undefined) {
    console.error(`usage: pnpm ${name} <kind>, such as: pnpm ${name} acme`)
    process.exit(2)
  }
  try {
    const files = generate({ root, id })
    execFileSync('oxfmt', ['--write', ...files], { cwd: root, stdio: 'ignore' })
    console.log(`${files.map((file) => `wrote ${file}`).join('\n')}\n\n${nextSteps(id)}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

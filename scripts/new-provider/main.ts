// `pnpm new-provider acme`: a package that compiles, and a conformance test that says what is left.
import { execFileSync } from 'node:child_process'
import { root } from '../repository.ts'
import { generateProvider } from './generate.ts'

const [id] = process.argv.slice(2)
if (id === undefined) {
  console.error('usage: pnpm new-provider <kind>, such as: pnpm new-provider acme')
  process.exit(2)
}
try {
  const files = generateProvider({ root, id })
  execFileSync('oxfmt', ['--write', ...files], { cwd: root, stdio: 'ignore' })
  console.log(`${files.map((file) => `wrote ${file}`).join('\n')}

Next: write packages/workspace-${id}/src/file-system.ts until this is green (it installs first):

  npx -y pnpm@12 test packages/workspace-${id}

Then fill in docs/providers/${id}.md and run

  npx -y pnpm@12 docs:gen
  npx -y pnpm@12 changeset
  npx -y pnpm@12 check

docs/providers/building.md explains the rest.`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

// `pnpm new-provider acme`: a package that compiles, and a conformance test that says what is left.
import { runGenerator } from '../scaffold/command.ts'
import { generateProvider } from './generate.ts'

runGenerator(
  'new-provider',
  generateProvider,
  (
    id,
  ) => `Next: write packages/workspace-${id}/src/file-system.ts until this is green (it installs first):

  npx -y pnpm@12 test packages/workspace-${id}

Then fill in docs/providers/${id}.md and run

  npx -y pnpm@12 docs:gen
  npx -y pnpm@12 api:gen
  npx -y pnpm@12 changeset
  npx -y pnpm@12 check

docs/providers/building.md explains the rest.`,
)

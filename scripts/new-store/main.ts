// `pnpm new-store acme`: a package that passes the suites of stores, on a driver that stands in.
import { runGenerator } from '../scaffold/command.ts'
import { generateStore } from './generate.ts'

runGenerator(
  'new-store',
  generateStore,
  (id) => `Next: this is green on node:sqlite in memory (it installs first):

  npx -y pnpm@12 test packages/store-${id}

Put the driver of ${id} in the place of test/connection.ts, adapt src/connection.ts and
src/map-error.ts to it, then run

  npx -y pnpm@12 docs:gen
  npx -y pnpm@12 api:gen
  npx -y pnpm@12 changeset
  npx -y pnpm@12 check

docs/guide/building-stores.md explains the rest.`,
)

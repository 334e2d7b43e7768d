// `pnpm new-module net`: a capability module with one tool, and its page in the docs.
import { runGenerator } from '../scaffold/command.ts'
import { generateModule } from './generate.ts'

runGenerator(
  'new-module',
  generateModule,
  (id) => `Next: shape the contract, the policy and the tools, export the types of the contract that
providers implement from packages/core/src/provider.ts, and give a provider the module \`${id}\`.
Contract behaviours go into packages/workspace-conformance, each with a saboteur. Then run

  npx -y pnpm@12 docs:gen
  npx -y pnpm@12 api:gen
  npx -y pnpm@12 changeset
  npx -y pnpm@12 check`,
)

/** How a printed command is tried. */
export type Trial =
  /** It ends by itself with code 0, or with `code`. */
  | { readonly kind: 'ends'; readonly code?: number }
  /** It runs until it is stopped, and prints this when it is ready. */
  | { readonly kind: 'serves'; readonly ready: RegExp }
  /** Another check runs it as printed. */
  | { readonly kind: 'elsewhere'; readonly file: string }
  /** It cannot run here. */
  | { readonly kind: 'needs'; readonly what: string }

interface PlannedCommand {
  /** The page, when the command alone does not tell. */
  readonly page?: RegExp
  readonly command: RegExp
  readonly trial: Trial
}

const ends: Trial = { kind: 'ends' }
const account: Trial = { kind: 'needs', what: 'an account at Cloudflare' }
const engine: Trial = { kind: 'needs', what: 'a container engine' }
const elsewhere = (file: string): Trial => ({ kind: 'elsewhere', file })

/** First match wins; a printed command without a match fails the check. */
export const commandPlan: readonly PlannedCommand[] = [
  {
    command: / story$|sandbox-fleet-node\/main|healthz-server\/main|cloudflare-do\/main/,
    trial: elsewhere('scripts/check-examples.ts'),
  },
  {
    page: /guide\/(?:fleet-runbook|operating)/,
    command: /./,
    trial: elsewhere('packages/cli/test/incidents.test.ts'),
  },
  {
    page: /guide\/many-machines/,
    command: /^pg_/,
    trial: elsewhere('packages/store-postgres/test/operating'),
  },
  // Account first: what is left of a template is typed by the rehearsal, which knows each command.
  { command: /^npx wrangler (?:login|secret|r2)|run deploy$|^URL=https/, trial: account },
  {
    page: /create-helix-agents\/templates/,
    command: /./,
    trial: elsewhere('scripts/release/rehearse-template.ts'),
  },
  { command: /^npx -y pnpm@12 (?:test|check)$/, trial: elsewhere('.ci/run') },
  { command: /^npx -y pnpm@12 demo$/, trial: elsewhere('.ci/run') },
  { command: /^npx -y pnpm@12 tarballs$/, trial: elsewhere('scripts/check-packages.ts') },
  {
    command: /^npx -y pnpm@12 new-(?:provider|store)/,
    trial: elsewhere('scripts/scaffold/scaffold.test.ts'),
  },
  {
    command: /^git clone <this repository>/,
    trial: { kind: 'needs', what: 'an address of the repository' },
  },
  { command: /^MODEL=/, trial: elsewhere('examples/models.test.ts') },
  {
    command: /^npm create helix-agents|^cd my-agent|^npx -y --package=\S+create-helix-agents/,
    trial: elsewhere('scripts/release/rehearse-template.ts'),
  },
  {
    command: /^npm install .*@helix-agents\//,
    trial: elsewhere('scripts/release/rehearse-installs.ts'),
  },
  { command: /^(?:helix |HELIX_FLEET_TOKEN=… npx helix )/, trial: elsewhere('packages/cli/test') },
  { command: /^\*\/5|^\*\/10|^17 \*/, trial: elsewhere('packages/cli/test') },
  {
    page: /guide\/cloudflare|runtime-cloudflare/,
    command: /./,
    trial: elsewhere('scripts/commands/cloudflare-guide.ts'),
  },
  {
    page: /sandbox-testbed/,
    command:
      /^docker|^dockerd|^podman|^export (?:DOCKER_HOST|MINIFLARE|HELIX_SANDBOX)|vitest run|sandbox-image/,
    trial: engine,
  },
  { command: /example-chat start$/, trial: { kind: 'serves', ready: /127\.0\.0\.1:8788/ } },
  { command: /example-node-cluster start$/, trial: { kind: 'serves', ready: /POST \/turns/ } },
  { command: /example-healthz-server start$/, trial: { kind: 'serves', ready: /8787/ } },
  { command: /research-assistant-cloudflare-do start$/, trial: { kind: 'serves', ready: /8787/ } },
  {
    command: /research-assistant-cloudflare-do talk$/,
    trial: elsewhere('scripts/check-examples.ts'),
  },
  { command: /example-node-cluster start$/, trial: { kind: 'serves', ready: /http:\/\/\S+:\d+/ } },
  { command: /sandbox-fleet-node serve$/, trial: { kind: 'serves', ready: /8790/ } },
  { command: /^npx -y pnpm@12 (?:exec node|demo --provider|explain)/, trial: ends },
]

/** @returns undefined for a command that nobody has thought about. */
export function trialOf(page: string, command: string): Trial | undefined {
  return commandPlan.find((one) => (one.page?.test(page) ?? true) && one.command.test(command))
    ?.trial
}

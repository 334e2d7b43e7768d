// `pnpm release:rehearse [template … | installs] [--all]`: publishes every package to a registry on
// this machine as a release does, then creates, checks, tests and runs each template with nothing
// but that registry and npm. `--all` does so with the oldest Node too, and types every install command of the
// documentation.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { find } from '../repository.ts'
import { startLocalRegistry } from './local-registry.ts'
import { createNewcomer, nodeRelease } from './newcomer.ts'
import { publishAll } from './publish.ts'
import { rehearseInstalls } from './rehearse-installs.ts'
import { otherRuntimes, rehearseRuntimes } from './rehearse-runtimes.ts'
import { rehearseTemplate } from './rehearse-template.ts'

const OLDEST_NODE = '22.18.0'
const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const INSTALLS = 'installs'
const all = find('packages/create-helix-agents/templates/*/package.json').map(
  (file) => file.split('/').at(-2) ?? '',
)
const unknown = positionals.filter((name) => ![...all, INSTALLS].includes(name))
if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}`)
const isWanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part)
const templates = all.filter(isWanted)

// Where this machine installs from.
const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
const registry = await startLocalRegistry(upstream)
try {
  const published = await asNewcomer([], (newcomer) => publishAll(newcomer, registry.url))
  console.log(`published ${published.length} packages to ${registry.url}`)
  await rehearseAll([], process.version)
  if (values.all) {
    await rehearseAll([await nodeRelease(OLDEST_NODE)], `v${OLDEST_NODE}`)
    await asNewcomer(await otherRuntimes(), rehearseRuntimes)
    console.log('ok: Bun and Deno do what the documentation says')
  }
  if (isWanted(INSTALLS)) {
    const count = await asNewcomer([], (newcomer) => rehearseInstalls(newcomer, values.all))
    console.log(`ok: ${count} install commands of the documentation`)
  }
} finally {
  registry.close()
}
console.log(`ok: ${templates.length} templates created, checked, tested and run`)

async function rehearseAll(programs: readonly string[], node: string): Promise<void> {
  for (const template of templates) {
    const done = await asNewcomer(programs, (newcomer) => rehearseTemplate(newcomer, template))
    const [created, answered, total] = [
      done.createSeconds,
      done.answerSeconds,
      done.totalSeconds,
    ].map((seconds) => `${seconds.toFixed(1)} s`)
    console.log(
      `${template} on Node ${node}: made ${created}, first answer ${answered}, all ${total}`,
    )
  }
}

/** A new one each time: nothing that one has installed helps the next. */
async function asNewcomer<T>(
  programs: readonly string[],
  work: (newcomer: ReturnType<typeof createNewcomer>) => Promise<T>,
): Promise<T> {
  const newcomer = createNewcomer(registry.url, programs)
  try {
    return await work(newcomer)
  } finally {
    rmSync(newcomer.place, { recursive: true, force: true, maxRetries: 5 })
  }
}

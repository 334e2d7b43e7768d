// `pnpm release:rehearse [part …] [--all]`: publishes every package to a registry on this machine as
// a release does, then creates, checks, tests and runs each template with nothing but that registry
// and npm, on this Node and on the oldest one; then what the documentation says of other runtimes
// and installers, and its install commands. `--all` runs the Workers on the oldest Node too.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { find } from '../repository.ts'
import { startLocalRegistry } from './local-registry.ts'
import { createNewcomer, type Newcomer, nodeRelease } from './newcomer.ts'
import { publishAll } from './publish.ts'
import { rehearseInstalls } from './rehearse-installs.ts'
import { otherPrograms, rehearseInstallers, rehearseRuntimes } from './rehearse-runtimes.ts'
import { rehearseTemplate } from './rehearse-template.ts'

const OLDEST_NODE = '22.18.0'
/** Parts beside the templates. */
const OTHERS = ['installs', 'runtimes', 'installers']
/** On the oldest Node too without `--all`: those that are quick. */
const QUICK = ['terminal', 'chat']
const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const all = find('packages/create-helix-agents/templates/*/package.json').map(
  (file) => file.split('/').at(-2) ?? '',
)
const unknown = positionals.filter((name) => ![...all, ...OTHERS].includes(name))
if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}`)
const isWanted = (part: string): boolean => positionals.length === 0 || positionals.includes(part)
const templates = all.filter(isWanted)
const start = performance.now()

// Where this machine installs from.
const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
const registry = await startLocalRegistry(upstream)
try {
  const published = await asNewcomer([], (newcomer) => publishAll(newcomer, registry.url))
  console.log(`published ${published.length} packages to ${registry.url}`)
  await rehearseAll(templates, [], process.version)
  const onOldest = templates.filter((name) => values.all || QUICK.includes(name))
  if (onOldest.length > 0) {
    await rehearseAll(onOldest, [await nodeRelease(OLDEST_NODE)], `v${OLDEST_NODE}`)
  }
  await rehearsePart('runtimes', rehearseRuntimes, 'Bun and Deno do what the documentation says')
  await rehearsePart('installers', rehearseInstallers, 'pnpm, and a folder of tarballs offline')
  await rehearsePart('installs', rehearseInstalls, 'each install command, and all types')
} finally {
  registry.close()
}
const minutes = ((performance.now() - start) / 60_000).toFixed(1)
console.log(
  `ok: ${templates.length} templates created, checked, tested and run in ${minutes} minutes`,
)

/** One of the other parts, on a machine that has Bun, Deno and pnpm. */
async function rehearsePart(
  part: string,
  work: (newcomer: Newcomer) => Promise<unknown>,
  what: string,
): Promise<void> {
  if (!isWanted(part)) return
  const began = performance.now()
  await asNewcomer(await otherPrograms(), work)
  console.log(`ok: ${what}, ${((performance.now() - began) / 1000).toFixed(1)} s`)
}

async function rehearseAll(
  wanted: readonly string[],
  programs: readonly string[],
  node: string,
): Promise<void> {
  for (const template of wanted) {
    const done = await asNewcomer(programs, (newcomer) => rehearseTemplate(newcomer, template))
    const { createSeconds, testSeconds, answerSeconds, totalSeconds, keystrokes } = done
    const [created, tested, answered, total] = [
      createSeconds,
      testSeconds,
      answerSeconds,
      totalSeconds,
    ].map((seconds) => `${seconds.toFixed(1)} s`)
    console.log(
      `${template} on Node ${node}: made ${created}, tested ${tested}, first answer ${answered}, ` +
        `all ${total}; ${keystrokes} keystrokes`,
    )
  }
}

/** A new one each time: nothing that one has installed helps the next. */
async function asNewcomer<T>(
  programs: readonly string[],
  work: (newcomer: Newcomer) => Promise<T>,
): Promise<T> {
  const newcomer = createNewcomer(registry.url, programs)
  try {
    return await work(newcomer)
  } finally {
    rmSync(newcomer.place, { recursive: true, force: true, maxRetries: 5 })
  }
}

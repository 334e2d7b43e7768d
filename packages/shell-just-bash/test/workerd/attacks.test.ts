// The hostile scripts inside an object, where nothing interrupts a program of the shell: what bounds
// them are their own limits, and the object serves on.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { noopLogger, systemClock } from '@helix-agents/core'
import type { Shell } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'
import { endless, escapes, evilPatterns, greedy } from '../attacks/hostile-scripts.ts'

const MEGABYTE = 1024 * 1024
const TIMEOUT_MS = 500
/** Time of a script and its computations, on a machine that has other work. */
const MOST_MS = 60_000

/** Our own limits are all that bounds these. */
const isOurs = (script: string): boolean =>
  /\bsed |awk .*(?:\$\w+ =|NF =|\$n)|gsub|test\(/.test(script)

const sampler = new TestSampler()
/** An isolate that is reset takes the tests of all files with it: that is for the whole sweep. */
const heavy = sampler.isExhaustive
  ? [...endless, ...greedy].filter((script) => !isOurs(script))
  : []
const scripts = [
  ...sampler.pick('escapes', escapes, 8),
  ...sampler.pick('patterns', evilPatterns, 5),
  ...sampler.pick('growing', [...endless, ...greedy].filter(isOurs), 4),
  ...heavy,
]

/** A shell over the files of an object, which are bounded as those of a tenant are. */
function inObject(act: (shell: Shell) => Promise<void>): Promise<void> {
  const stub = env.FILES.get(env.FILES.newUniqueId())
  return runInDurableObject(stub, async (_, { storage }) => {
    const shell = justBashShell({ maxTotalOutputBytes: 8 * MEGABYTE })
    const provider = new CloudflareFileStoreWorkspaceProvider({
      storage,
      shell,
      maxBytes: 32 * MEGABYTE,
      maxFiles: 30_000,
    })
    const session = { sessionId: 'one', agentType: 'tester' }
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, {
      workspace: 'box',
      capabilities: {},
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    })
    if (ws.shell === undefined) throw new Error('no shell')
    await act(ws.shell)
    await ws.close()
  })
}

/** The clock of an isolate stands still until it waits. */
async function now(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve))
  return Date.now()
}

test.each(scripts)('%s', { timeout: 120_000 }, (script) =>
  inObject(async (shell) => {
    const startedAt = await now()
    const { stdout, stderr, exitCode } = await shell.run(script, {
      timeoutMs: TIMEOUT_MS,
      maxOutputBytes: MEGABYTE,
    })
    expect((await now()) - startedAt).toBeLessThan(MOST_MS)
    expect(exitCode).toBeLessThan(256)
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
    expect(text).not.toMatch(/root:x:|node_modules|at \w+ \(|\.js:\d+/)
    expect(text).not.toContain(env.HELIX_TEST_API_KEY)
    const after = await shell.run('echo fine; jq -n "{} | .polluted"')
    expect(new TextDecoder().decode(after.stdout)).toBe('fine\nnull\n')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  }),
)

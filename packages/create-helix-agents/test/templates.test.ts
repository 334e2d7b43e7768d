// The tests of the templates as their users run them, with the packages of this repository.
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '../templates')
const names = globSync('*/package.json', { cwd: folder }).map((file) => file.split('/')[0] ?? '')

test.concurrent.each(names)(
  'the tests of the template %s pass',
  async (name) => {
    const args = ['--conditions=@helix-agents/source', '--test', 'test/**/*.test.ts']
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      NODE_TEST_CONTEXT: undefined,
      WRANGLER_BUILD_CONDITIONS: '@helix-agents/source,workerd,worker,browser',
    }
    const cwd = join(folder, name)
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env })
    expect(stdout).toMatch(/^ℹ pass [1-9]/m)
  },
  120_000,
)

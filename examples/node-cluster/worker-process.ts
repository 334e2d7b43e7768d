// The same as `helix worker worker.ts`, from wherever this example was copied to.
import { join } from 'node:path'
import { createNodeHost, runCli } from '@helix-agents/cli'

const worker = join(import.meta.dirname, 'worker.ts')
process.exitCode = await runCli(['worker', worker, ...process.argv.slice(2)], createNodeHost())

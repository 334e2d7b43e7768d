#!/usr/bin/env node
import { interruptSignal } from './interrupt-signal.ts'
import { runCreate } from './run-create.ts'

const { stdin, stdout, stderr, env } = process
process.exitCode = await runCreate(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  signal: interruptSignal(),
})

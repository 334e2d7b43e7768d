#!/usr/bin/env node
import { createNodeHost } from './node-host.ts'
import { runCli } from './run-cli.ts'

const code = await runCli(process.argv.slice(2), createNodeHost())
// Not `process.exit`: output on its way to a pipe would be cut. A failed write has set its code.
process.exitCode ??= code

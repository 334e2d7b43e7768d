// `helix` without a start of it: each takes half a second from source. One process runs all commands, as
// the program does but for its input and output; `bin.test.ts` starts the program itself.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from './helix-server.ts'
import type { Ran } from './test-host.ts'

/** Made by {@link serveHelix}. */
export interface ServedHelix {
  /** A folder with the program `helix`, for the path of a shell. Its commands have no input. */
  readonly bin: string
  run(...args: readonly string[]): Promise<Ran>
  close(): void
}

/** Starts the process of all commands, and makes the program for shells in a folder. */
export async function serveHelix(folder: string): Promise<ServedHelix> {
  const path = join(folder, 'helix.sock')
  const program = join(import.meta.dirname, 'helix-server.ts')
  const words = ['--conditions=@helix-agents/source', program, path]
  const server = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  return {
    bin: installClient(folder, path),
    run: async (...args) => {
      const env = { ...process.env, NO_COLOR: '1' }
      const command: Command = { args, env, cwd: process.cwd() }
      return JSON.parse(await text(connect(path).end(JSON.stringify(command)))) as Ran
    },
    close: () => void server.kill(),
  }
}

function installClient(folder: string, path: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const client = join(import.meta.dirname, 'helix-client.ts')
  const script = `#!/bin/sh\nexec '${process.execPath}' '${client}' '${path}' "$@"\n`
  writeFileSync(join(bin, 'helix'), script, { mode: 0o755 })
  return bin
}

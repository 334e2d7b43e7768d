// A process that runs commands of `helix` one after the other, see `served-helix.ts`.
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type CliHost, runCli } from '@helix-agents/cli'
import { createNodeHost } from '../src/node-host.ts'
import { type Ran, RecordingStream } from './test-host.ts'

/** What somebody types, and where. */
export interface Command {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

const machine = createNodeHost()
let last: Promise<unknown> = Promise.resolve()

async function run({ args, env, cwd }: Command): Promise<Ran> {
  process.chdir(cwd)
  process.env = env
  const [stdout, stderr] = [new RecordingStream({}), new RecordingStream({})]
  const stdin = { readLine: async () => '', readAll: async () => '' }
  const host: CliHost = { ...machine, stdin, stdout, stderr, env }
  const code = await runCli(args, host)
  return { code, out: stdout.text, err: stderr.text }
}

const server = createServer({ allowHalfOpen: true }, async (socket) => {
  const command = JSON.parse(await text(socket)) as Command
  const ran = last.then(() => run(command))
  last = ran
  socket.end(JSON.stringify(await ran))
})
server.listen(process.argv[2], () => process.stdout.write('ready\n'))
// Ends with the process that has started it.
process.stdin.on('end', () => process.exit()).resume()

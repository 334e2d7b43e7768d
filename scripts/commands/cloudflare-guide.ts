// The Worker of the page on Cloudflare as a reader makes it: its code, its `wrangler.jsonc`, and
// the commands that stand below them, in order.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { read, root } from '../repository.ts'
import type { PrintedFence } from './printed-commands.ts'
import { startServer } from './start-server.ts'

export const CLOUDFLARE_GUIDE = 'docs/guide/cloudflare.md'

const execute = promisify(execFile)
/** What the reader has to fill in: a model, and here an agent that asks. */
const OWN_MODEL = `const createModel = (_env: Env): LLMAdapter => ({
  generateStep: async ({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { type: 'text', content: 'It is in /notes.', shouldStop: true }
      : {
          type: 'tool_calls',
          toolCalls: [
            { id: 'call-1', name: 'workspace__notes__write_file', arguments: { path: '/notes/a', content: 'found\\n' } },
          ],
        },
})`

/** @throws {Error} with the command that fails, and what it printed. */
export async function playCloudflareGuide(fences: readonly PrintedFence[]): Promise<void> {
  // Beside the packages that the page imports.
  const folder = mkdtempSync(join(root, 'packages/create-helix-agents/templates/worker/.guide-'))
  try {
    writeProject(folder)
    const [setup = [], ...later] = fences.map(({ commands }) => commands.map((one) => one.command))
    const start = setup.findIndex((command) => command.startsWith('npx wrangler dev'))
    await typeAll(setup.slice(0, start), folder)
    const server = await startServer(
      spawn,
      {
        command: `cd ${folder} && ${setup[start]} --inspector-port 0`,
        ready: /Ready on \S+:8787/,
      },
      {
        WRANGLER_BUILD_CONDITIONS: '@helix-agents/source,workerd,worker,browser',
        WRANGLER_SEND_METRICS: 'false',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      },
    )
    try {
      await typeAll([...setup.slice(start + 1), ...later.flat()], folder)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeProject(folder: string): void {
  const page = read(CLOUDFLARE_GUIDE)
  const fence = (language: string): string =>
    new RegExp(`^\`\`\`${language}\n(?<code>[\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.groups?.code ??
    ''
  const code = fence('ts fragment')
    .replace(/^declare function createModel.*$/m, OWN_MODEL)
    .replace("name: 'researcher',", "$& permissions: [{ decision: 'ask', tool: 'write_file' }],")
  writeFileSync(join(folder, 'worker.ts'), code)
  writeFileSync(join(folder, 'wrangler.jsonc'), fence('jsonc'))
}

/** Where a command has `…`, a reader puts in the id that the one before has shown. */
async function typeAll(commands: readonly string[], cwd: string): Promise<void> {
  let id = ''
  for (const printed of commands) {
    const command = printed.replace(/(?<=requests\/)…/, id)
    console.log(`  $ ${command}`)
    const strict = command.replace(/^curl /, 'curl -sS --fail-with-body --max-time 60 ')
    const { stdout } = await execute('bash', ['-c', strict], { cwd })
    id = /"requestId":"(?<id>[^"]+)"/.exec(stdout)?.groups?.id ?? id
  }
}

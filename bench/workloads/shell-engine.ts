// Commands without processes, in a thread of Node, beside a real bash and our own search.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { type Contender, measure } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'
import { temporaryFolder } from '../harness/workspaces.ts'

const OURS = 'helix run in just-bash'
const BASH = 'spawn bash -c'
const MEBIBYTE = 1024 * 1024

/** Five stages over 1 MiB, of the programs that models use most. */
const PIPES: Readonly<Record<string, string>> = {
  'cat, grep, cut, sort, uniq':
    "cat log.txt | grep -v debug | cut -d' ' -f3 | sort | uniq -c > counted.txt",
  'cat, sed, awk, sort, head':
    "cat log.txt | sed 's/error/fault/' | awk '{print $2, $3}' | sort | head -20 > first.txt",
}

export async function run(): Promise<Verdict[]> {
  const files = new InMemoryFileSystem({ versionPrefix: 'bench' })
  const folder = temporaryFolder()
  const shell = justBashShell().open({ files, clock: systemClock, logger: noopLogger })
  const log = logOf(MEBIBYTE)
  await files.writeFile('/log.txt', log)
  writeFileSync(join(folder.path, 'log.txt'), log)
  const ours = (command: string): Contender => repeated(OURS, () => shell.run(command))
  const bash = (command: string): Contender => repeated(BASH, () => spawned(command, folder.path))
  const beside = async (title: string, command: string, most: number): Promise<Verdict> =>
    report({
      title: `shell engine: ${title}`,
      ours: OURS,
      limit: BASH,
      measurements: await measure([bash(command), ours(command)], { sampleMs: 200 }),
      gate: { most },
      unit: 'ms',
    })
  const verdicts = [await beside('echo', 'echo hi', 0.5)]
  for (const [title, command] of Object.entries(PIPES)) {
    verdicts.push(await beside(`1 MiB through ${title}`, command, 2))
  }
  verdicts.push(...(await searches(files, ours)))
  await shell.close()
  folder.remove()
  return verdicts
}

/** `grep -r` beside the search of the same files. */
async function searches(
  files: InMemoryFileSystem,
  ours: (command: string) => Contender,
): Promise<Verdict[]> {
  for (let i = 0; i < 10_000; i += 1) {
    const line = `export const value${i} = handle${i % 37}(${i}) // error ${i % 100}\n`
    await files.writeFile(`/src/d${i % 100}/f${i}.ts`, line.repeat(40))
  }
  const verdicts: Verdict[] = []
  for (const [options, pattern, mode] of [
    ['-rn', 'handle13', 'literal'],
    ['-rE', 'handle(13|14).*error 7', 'regex'],
  ] as const) {
    const limit = 'search of the workspace'
    const search = repeated(limit, () => files.grep(pattern, { mode, maxResults: 50_000 }))
    const command = `grep ${options} "${pattern}" src > found.txt`
    verdicts.push(
      report({
        title: `shell engine: grep ${options} over 10,000 files`,
        ours: OURS,
        limit,
        measurements: await measure([search, ours(command)], { sampleMs: 300 }),
        gate: { most: 1.5 },
        unit: 'ms',
      }),
    )
  }
  return verdicts
}

function logOf(bytes: number): string {
  const levels = ['info', 'debug', 'warn', 'error']
  const lines: string[] = []
  for (let i = 0, size = 0; size < bytes; i += 1) {
    const line = `${i} ${levels[i % 4]} module${(i * 7919) % 211} the quick brown fox jumps over the lazy dog\n`
    lines.push(line)
    size += line.length
  }
  return lines.join('')
}

async function spawned(command: string, cwd: string): Promise<void> {
  await once(spawn('bash', ['-c', command], { cwd, stdio: 'ignore' }), 'exit')
}

function repeated(name: string, task: () => Promise<unknown>): Contender {
  return {
    name,
    run: async (times) => {
      for (let i = 0; i < times; i++) await task()
    },
  }
}

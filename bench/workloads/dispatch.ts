// What validation, policy, registry and rendering add to the bare call of a provider.
import { readText } from '@helix-agents/core'
import { measure } from '../harness/measure.ts'
import { report, type Verdict } from '../harness/report.ts'
import { callTool } from '../harness/tools.ts'
import { openMemory } from '../harness/workspaces.ts'

const MOST_MICROSECONDS = 10
const line = 'const answer = 42 // about forty bytes here\n'

export async function run(): Promise<Verdict[]> {
  const fs = await openMemory()
  await fs.writeFile('/small.txt', line.repeat(100).slice(0, 4096))
  await fs.writeFile('/large.txt', line.repeat(190_000).slice(0, 8 * 1024 * 1024))
  const read = callTool(fs, 'read_file')
  const [bare, tool] = await measure([
    { name: 'bare readText', run: repeat(() => readText(fs, '/small.txt')) },
    { name: 'tool read_file', run: repeat(() => read({ path: '/small.txt' })) },
  ])
  const added = tool!.microseconds - bare!.microseconds
  const page = await measure([
    { name: 'bare readFile', run: repeat(() => fs.readFile('/large.txt')) },
    { name: 'tool read_file', run: repeat(() => read({ path: '/large.txt' })) },
  ])
  return [
    report({
      title: 'dispatch: what the tool layer adds to a read of 4 KiB',
      ours: 'added by the tool layer',
      limit: `${MOST_MICROSECONDS} µs`,
      measurements: [
        { name: `${MOST_MICROSECONDS} µs`, microseconds: MOST_MICROSECONDS },
        { name: 'added by the tool layer', microseconds: added },
      ],
      gate: { most: 1 },
    }),
    report({
      title: 'dispatch: page 1 of 8 MiB',
      ours: 'tool read_file',
      limit: 'bare readFile',
      measurements: page,
      gate: { most: 1.2 },
    }),
  ]
}

function repeat(task: () => Promise<unknown>): (times: number) => Promise<void> {
  return async (times) => {
    for (let i = 0; i < times; i++) await task()
  }
}

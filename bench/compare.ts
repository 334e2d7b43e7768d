// pnpm bench:compare <other checkout> [--only files,shell,…] [--rounds 3]: ours ÷ limit there and
// here, by turns, so that the noise of the machine hits both alike.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { median } from './harness/measure.ts'

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '3' } },
  allowPositionals: true,
})
const [other] = positionals
if (other === undefined) throw new Error('usage: pnpm bench:compare <other checkout> [--only …]')

/** Ratios by row, one of each round. */
type Ratios = Map<string, number[]>
const before: Ratios = new Map()
const after: Ratios = new Map()

for (let round = 0; round < Number(values.rounds); round += 1) {
  collect(other, before)
  collect(join(import.meta.dirname, '..'), after)
}
console.log(`${'ours ÷ limit, medians'.padEnd(60)}  before   after  change`)
for (const [row, ratios] of after) {
  const [was, is] = [median(before.get(row) ?? []), median(ratios)]
  const change = `${(is / was).toFixed(2)} ×`
  console.log(`${row.padEnd(60)}${figure(was)}${figure(is)}${change.padStart(8)}`)
}

/** Reads the summary that every version of the benchmarks prints. */
function collect(folder: string, ratios: Ratios): void {
  const only = values.only === undefined ? [] : ['--only', values.only]
  const args = ['--expose-gc', '--conditions=@helix-agents/source', 'bench/main.ts', '--no-peers']
  const { stdout } = spawnSync(process.execPath, [...args, ...only], {
    cwd: folder,
    encoding: 'utf8',
  })
  const summary = stdout.slice(stdout.lastIndexOf('\nsummary'))
  const rows = [...summary.matchAll(/^[! ] (?<row>\S.*?) {2,}(?<ratio>[\d.]+)/gm)]
  if (rows.length === 0) throw new Error(`no summary of the benchmarks of ${folder}`)
  for (const { groups } of rows) {
    const row = groups?.row ?? ''
    ratios.set(row, [...(ratios.get(row) ?? []), Number(groups?.ratio)])
  }
}

function figure(ratio: number): string {
  return (Number.isNaN(ratio) ? '-' : ratio.toFixed(2)).padStart(8)
}

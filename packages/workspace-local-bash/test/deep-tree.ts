import { execFileSync } from 'node:child_process'

const NEST = `
const fs = require('node:fs')
const [start, name, levels, leaf] = process.argv.slice(1)
process.chdir(start)
for (let level = 0; level < Number(levels); level += 1) {
  fs.mkdirSync(name)
  process.chdir(name)
  if (level % 50 === 0) fs.writeFileSync('leaf', leaf)
}
fs.writeFileSync('leaf', leaf)`

/** Nests directories of one name far deeper than any path can say. */
export function nest(start: string, levels: number, name = 'd'): void {
  execFileSync(process.execPath, ['-e', NEST, start, name, String(levels), 'deep words'])
}

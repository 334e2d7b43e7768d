/** The test that the model writes: it fails until months are understood both ways. */
export const monthsTest = `const assert = require('node:assert/strict')
const ms = require('./index.js')
const original = require('../original/index.js')

assert.equal(ms('1 month'), 2629800000)
assert.equal(ms('2mo'), ms('2 months'))
assert.equal(ms(ms('2 months'), { long: true }), '2 months')
assert.equal(ms(ms('3 months')), '3mo')
for (const value of ['5m', '-3 min', '2 days', '30d', '1y', 90000, 2592000000]) {
  assert.equal(ms(value), original(value))
}
console.log('months: every check passed')
`

/** The same where there is no Node: the files are those of the workspace. */
export const monthsCode = `const load = async (path) => {
  const module = { exports: {} }
  new Function('module', 'exports', await fs.readFile(path, 'utf8'))(module, module.exports)
  return module.exports
}
const equal = (found, wanted) => {
  if (found !== wanted) throw new Error("'" + found + "' is not '" + wanted + "'")
}
const ms = await load('/ms/index.js')
const original = await load('/original/index.js')
equal(ms('1 month'), 2629800000)
equal(ms('2mo'), ms('2 months'))
equal(ms(ms('2 months'), { long: true }), '2 months')
equal(ms(ms('3 months')), '3mo')
for (const value of ['5m', '-3 min', '2 days', '30d', '1y', 90000, 2592000000]) {
  equal(ms(value), original(value))
}
console.log('months: every check passed')
`

/** A program that runs the test so many times. */
export function soakProgram(rounds: number): string {
  return `const { execFileSync } = require('node:child_process')
for (let round = 1; round <= ${rounds}; round += 1) {
  execFileSync(process.execPath, ['months.test.cjs'])
  console.log('round ' + round)
}
`
}

interface Edit {
  readonly path: string
  readonly oldText: string
  readonly newText: string
}

const path = '/ms/index.js'

/** Understanding months: a constant, the pattern, the unit. */
export const parserEdits: readonly Edit[] = [
  { path, oldText: 'var y = d * 365.25;', newText: 'var y = d * 365.25;\nvar mo = y / 12;' },
  { path, oldText: 'weeks?|w|years?', newText: 'weeks?|w|months?|mo|years?' },
  {
    path,
    oldText: "    case 'weeks':",
    newText: [
      "    case 'months':",
      "    case 'month':",
      "    case 'mo':",
      '      return n * mo;',
      "    case 'weeks':",
    ].join('\n'),
  },
]

/** Writing months: the long and the short form. */
export const formatEdits: readonly Edit[] = [
  {
    path,
    oldText: "  if (msAbs >= d) {\n    return plural(ms, msAbs, d, 'day');",
    newText: [
      '  if (msAbs >= mo) {',
      "    return plural(ms, msAbs, mo, 'month');",
      '  }',
      '  if (msAbs >= d) {',
      "    return plural(ms, msAbs, d, 'day');",
    ].join('\n'),
  },
  {
    path,
    oldText: "  if (msAbs >= d) {\n    return Math.round(ms / d) + 'd';",
    newText: [
      '  if (msAbs >= mo) {',
      "    return Math.round(ms / mo) + 'mo';",
      '  }',
      '  if (msAbs >= d) {',
      "    return Math.round(ms / d) + 'd';",
    ].join('\n'),
  },
]

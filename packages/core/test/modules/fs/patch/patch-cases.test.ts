import { describe, expect, it } from 'vitest'
import { renderToolError, toToolError } from '../../../../src/errors/to-tool-error.ts'
import { ToolBench } from '../tool-bench.ts'
import { type PatchCase, patchCases } from './patch-cases.ts'

const { base, unified, folders, v4a } = patchCases

async function run(one: PatchCase) {
  const bench = new ToolBench({ extended: true })
  for (const [path, text] of Object.entries(one.files ?? base)) await bench.fs.writeFile(path, text)
  const before = bench.fs.all()
  const shown = await bench
    .show('apply_patch', { patch: one.patch.join('\n') })
    .catch((error: unknown) => renderToolError(toToolError(error)))
  return { shown, before, after: bench.fs.all() }
}

function expectedFiles(one: PatchCase, before: Record<string, string>): Record<string, string> {
  const files = { ...before }
  for (const [path, text] of Object.entries(one.gives ?? {})) {
    if (text === null) delete files[path]
    else files[path] = text
  }
  return files
}

const all = [...unified, ...folders, ...v4a]

describe.each([
  ['unified', unified],
  ['folders', folders],
  ['V4A', v4a],
] as const)('patches as models write them: %s', (_format, cases) => {
  it.each(cases.map((one) => [one.what, one] as const))('%s', async (_what, one) => {
    const { shown, before, after } = await run(one)
    const code = /^Error \[(.*?)\]/.exec(shown)?.[1]
    expect([code, shown]).toEqual([one.refused, shown])
    expect(after).toEqual(expectedFiles(one, before))
    expect((one.says ?? []).filter((part) => !shown.includes(part))).toEqual([])
  })
})

it('tells each outcome word for word', async () => {
  const told: string[] = []
  for (const one of all) told.push(`## ${one.what}\n${(await run(one)).shown}\n`)
  await expect(told.join('\n')).toMatchFileSnapshot('patch-outcomes.txt')
})

const refused = all.filter((one) => one.refused !== undefined)
const EMPTY = [
  'nothing',
  'nothing in its frame',
  'no end',
  'no end, but its fence',
  'a name that climbs out',
]

describe('a refusal of a patch', () => {
  it.each(refused.map((one) => [one.what, one] as const))(
    'says where, and what to do: %s',
    async (_what, one) => {
      const { shown } = await run(one)
      const where = /hunk \d+ of "|line \d+|the patch (?:names|removes|has no hunk for) "/
      expect(where.test(shown) || EMPTY.includes(one.what)).toBe(true)
      expect(shown).toMatch(/\nHint: [A-Z]/)
      expect(shown).toMatch(/nothing was changed|leaves the workspace/)
    },
  )
})

describe('a result of a patch', () => {
  const done = all.filter((one) => one.refused === undefined)
  it.each(done.map((one) => [one.what, one] as const))(
    'has a diff of each file: %s',
    async (_what, one) => {
      const { shown } = await run(one)
      const paths = Object.keys(one.gives ?? {})
      expect(paths.filter((path) => !shown.includes(path))).toEqual([])
      expect(shown).toMatch(/^(?:--- |rename from |copy from )/m)
    },
  )

  it('is the same patch once more: applied to the files before, it gives the same files', async () => {
    for (const one of done) {
      const { shown, before, after } = await run(one)
      const bench = new ToolBench({ extended: true })
      for (const [path, text] of Object.entries(before)) await bench.fs.writeFile(path, text)
      const patch = shown.replace(
        /^(?:created|changed|removed|moved|copied) .*\n|^Note: .*\n/gm,
        '',
      )
      const code = await bench.code('apply_patch', { patch })
      expect([one.what, code, bench.fs.all()]).toEqual([one.what, 'ok', after])
    }
  })
})

it('holds enough', () => {
  expect(all.length).toBeGreaterThanOrEqual(150)
})

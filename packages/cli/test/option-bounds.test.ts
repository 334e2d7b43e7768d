// The largest number that each option takes.
import { expect, it } from 'vitest'
import { TestHost } from './test-host.ts'

it.each([
  ['fleet list --db f --limit', 100_000],
  ['sessions list --limit', 100_000],
  ['sessions list --scan', 1_000_000],
  ['sessions list --ref-version', 1_000_000],
  ['sessions show s --messages', 100_000],
  ['approvals list --limit', 100_000],
  ['snapshots list --limit', 100_000],
  ['snapshots show s --entries', 1_000_000],
  ['worker no.ts --port', 65_535],
])('helix %s %d', async (command, most) => {
  const codeOf = async (count: number): Promise<number> =>
    (await new TestHost().run([...command.split(' '), String(count)])).code
  expect([await codeOf(most), await codeOf(most + 1)]).toEqual([expect.not.toBeOneOf([2]), 2])
})

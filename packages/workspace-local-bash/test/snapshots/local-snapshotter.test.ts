import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { snapshotLimits } from '@helix-agents/core/provider'
import { expect, it, onTestFinished } from 'vitest'
import { SnapshotSubject } from './snapshot-subject.ts'

/** A workspace of two files with five bytes, while these are the limits. */
async function bounded(limits: Partial<typeof snapshotLimits>): Promise<SnapshotSubject> {
  const before = { ...snapshotLimits }
  const subject = await SnapshotSubject.create()
  onTestFinished(async () => {
    Object.assign(snapshotLimits, before)
    await subject.host.dispose()
  })
  writeFileSync(join(subject.root, 'a'), 'xx')
  writeFileSync(join(subject.root, 'b'), 'xxx')
  Object.assign(snapshotLimits, limits)
  return subject
}

it.each([{ maxTotalBytes: 5 }, { maxEntries: 2 }])(
  'a snapshot is as large as %j',
  async (limits) => {
    const subject = await bounded(limits)
    const { header } = await subject.manifestOf(await subject.ws.snapshot.snapshot())
    expect([header.bytes, header.entries]).toEqual([5, 2])
  },
)

it.each([
  [{ maxTotalBytes: 4 }, 'at most 4 bytes'],
  [{ maxEntries: 1 }, 'at most 1 files and directories'],
])('a snapshot over %j is refused', async (limits, problem) => {
  const { ws } = await bounded(limits)
  await expect(ws.snapshot.snapshot()).rejects.toMatchObject({
    code: 'provider-failed',
    message: `too many files for a snapshot: ${problem}`,
    hint: 'Remove files that are not needed, or take none.',
  })
})

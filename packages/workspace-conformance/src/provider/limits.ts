import type { FileSystem } from '@helix-agents/core/provider'
import { equal, rejectsWithCode } from '../assert.ts'
import { streamOf } from '../file-system/files.ts'
import { type ProviderBehaviour } from './lifecycle.ts'
import { type ProviderSubject } from './provider-subject.ts'

const LIMIT = 1024 * 1024

/** Files under a policy of at most 1 MB each. */
function openLimited(subject: ProviderSubject): Promise<FileSystem> {
  return subject.openFiles({ capabilities: { fs: { maxFileSizeMb: 1 } } })
}

/** The provider checks the limit of the policy once more: not every caller is a tool. */
export const limitBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'fs/limits/one-byte-below-at-and-above',
    needs: ['fs'],
    run: async (subject) => {
      const fs = await openLimited(subject)
      for (const size of [LIMIT - 1, LIMIT]) {
        await fs.writeFile('/text', 'x'.repeat(size))
        await fs.writeFile('/bytes', new Uint8Array(size))
      }
      await rejectsWithCode('too-large', () => fs.writeFile('/text', 'x'.repeat(LIMIT + 1)))
      await rejectsWithCode('too-large', () => fs.writeFile('/bytes', new Uint8Array(LIMIT + 1)))
      equal([(await fs.stat('/text')).size, (await fs.stat('/bytes')).size], [LIMIT, LIMIT])
    },
  },
  {
    id: 'fs/limits/count-bytes-not-characters',
    needs: ['fs'],
    run: async (subject) => {
      const fs = await openLimited(subject)
      await rejectsWithCode('too-large', () => fs.writeFile('/a', 'ü'.repeat(LIMIT / 2 + 1)))
      equal((await fs.writeFile('/a', 'ü'.repeat(LIMIT / 2))).size, LIMIT)
    },
  },
  {
    id: 'fs/limits/hold-for-appends',
    needs: ['fs'],
    run: async (subject) => {
      const fs = await openLimited(subject)
      await fs.writeFile('/a', 'x'.repeat(LIMIT - 1))
      await rejectsWithCode('too-large', () => fs.appendFile('/a', 'xx'))
      equal((await fs.stat('/a')).size, LIMIT - 1)
      equal((await fs.appendFile('/a', 'x')).size, LIMIT)
    },
  },
  {
    id: 'fs/limits/hold-for-streams',
    needs: ['fs'],
    run: async (subject) => {
      const fs = await openLimited(subject)
      await fs.writeFile('/a', 'old')
      const piece = 'x'.repeat(LIMIT / 2)
      await rejectsWithCode('too-large', () => fs.writeStream('/a', streamOf(piece, piece, 'x')))
      equal((await fs.stat('/a')).size, 3)
      equal((await fs.writeStream('/a', streamOf(piece, piece))).size, LIMIT)
    },
  },
]

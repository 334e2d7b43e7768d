import { concurrencyBehaviours } from './concurrency.ts'
import type { FileSystemBehaviour } from './files.ts'
import { directoryBehaviours, listingBehaviours } from './listing.ts'
import { pathBehaviours } from './paths.ts'
import { readingBehaviours, statBehaviours } from './reading.ts'
import { removingBehaviours } from './removing.ts'
import { globBehaviours, grepBehaviours } from './searching.ts'
import { streamBehaviours } from './streaming.ts'
import { transferBehaviours } from './transferring.ts'
import { appendBehaviours, writingBehaviours } from './writing.ts'

/** Every clause of the `FileSystem` contract. */
export const fileSystemBehaviours: readonly FileSystemBehaviour[] = [
  ...readingBehaviours,
  ...statBehaviours,
  ...writingBehaviours,
  ...appendBehaviours,
  ...listingBehaviours,
  ...directoryBehaviours,
  ...removingBehaviours,
  ...transferBehaviours,
  ...streamBehaviours,
  ...globBehaviours,
  ...grepBehaviours,
  ...pathBehaviours,
  ...concurrencyBehaviours,
]

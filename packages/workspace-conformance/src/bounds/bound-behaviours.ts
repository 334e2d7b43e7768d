import { abortBehaviour, type BoundBehaviour, boundBehaviour } from './bound-case.ts'
import { codeCases } from './code-cases.ts'
import { commandCases, processCases } from './command-cases.ts'
import { plantedCases, readingCases } from './reading-cases.ts'
import { abortCases, searchingCases } from './searching-cases.ts'
import { snapshotCases } from './snapshot-cases.ts'
import { editingCases, writingCases } from './writing-cases.ts'

/**
 * No tool call holds the event loop for more than 50 ms, nor allocates more than a small multiple
 * of its documented limit, whatever files and arguments are, and an abort gets its turn.
 */
export const boundBehaviours: readonly BoundBehaviour[] = [
  ...[
    ...readingCases,
    ...plantedCases,
    ...searchingCases,
    ...writingCases,
    ...editingCases,
    ...commandCases,
    ...processCases,
    ...codeCases,
    ...snapshotCases,
  ].map(boundBehaviour),
  ...abortCases.map(abortBehaviour),
]

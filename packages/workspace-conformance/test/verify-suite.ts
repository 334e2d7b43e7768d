import { HelixError } from '@helix-agents/core'
import { type Behaviour, ConformanceError } from '@helix-agents/workspace-conformance'
import { describe, expect, test } from 'vitest'

/** Behaviour id → what a subject gets wrong. Each must be caught by its behaviour. */
export type Saboteurs<Subject> = Readonly<Record<string, (good: Subject) => Subject>>

export interface Verification<Subject> {
  /** A reference that keeps every clause. */
  create(): Promise<Subject>
  readonly saboteurs: Saboteurs<Subject>
  dispose?(): Promise<void>
}

/** Tests a suite: the reference passes, each saboteur is caught, none is missing. */
export function verifySuite<Subject>(
  name: string,
  behaviours: readonly Behaviour<Subject>[],
  verification: Verification<Subject>,
): void {
  describe(`${name} suite`, () => {
    const ids = behaviours.map((behaviour) => behaviour.id)
    test('ids are unique and each has a saboteur', () => {
      expect(new Set(ids).size).toBe(ids.length)
      expect(Object.keys(verification.saboteurs).toSorted()).toEqual(ids.toSorted())
    })
    describe.each(behaviours)('$id', (behaviour) => {
      const run = async (sabotage: (good: Subject) => Subject): Promise<void> => {
        try {
          await behaviour.run(sabotage(await verification.create()))
        } finally {
          await verification.dispose?.()
        }
      }
      // What is not slow has the limit of every test.
      const timeoutMs = behaviour.slow ? 120_000 : undefined
      test(
        'accepts the reference',
        async () => {
          await expect(run((good) => good)).resolves.toBeUndefined()
        },
        timeoutMs,
      )
      test(
        'rejects its saboteur',
        async () => {
          const sabotage = verification.saboteurs[behaviour.id]
          const error = await run(sabotage!).then(
            () => undefined,
            (cause: unknown) => cause,
          )
          expect(findingOf(error)).toBe('finding')
        },
        timeoutMs,
      )
    })
  })
}

/** A TypeError would be a mistake of the saboteur, not a finding of the behaviour. */
function findingOf(error: unknown): string {
  const isFinding = error instanceof ConformanceError || HelixError.isInstance(error)
  return isFinding ? 'finding' : `no finding but ${String(error)}`
}

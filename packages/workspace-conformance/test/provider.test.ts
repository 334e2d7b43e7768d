import { ProviderSubject, workspaceBehaviours } from '@helix-agents/workspace-conformance'
import { expect, test } from 'vitest'
import { CAPABILITIES, createReferenceHarness } from './reference/provider.ts'
import { isolationSaboteurs, lifecycleSaboteurs, refSaboteurs } from './saboteurs/provider.ts'
import { snapshotSaboteurs } from './saboteurs/snapshot.ts'
import { verifySuite } from './verify-suite.ts'

/** Those of one part of a workspace have a test file of their own. */
const OWN_FILE = /^(fs\/(?!limits)|shell\/|code\/)/

let subject: ProviderSubject | undefined

verifySuite(
  'provider',
  workspaceBehaviours.filter(({ id }) => !OWN_FILE.test(id)),
  {
    create: async () => {
      subject = new ProviderSubject(createReferenceHarness(), CAPABILITIES, ['background'])
      return subject
    },
    dispose: async () => subject?.dispose(),
    saboteurs: {
      ...lifecycleSaboteurs,
      ...refSaboteurs,
      ...isolationSaboteurs,
      ...snapshotSaboteurs,
    },
  },
)

test('every id names its suite and its clause', () => {
  const ids = workspaceBehaviours.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter((id) => !/^[a-z]+\/[a-z]+\/[a-z0-9-]+$/.test(id))).toEqual([])
})

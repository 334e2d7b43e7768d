// The whole kit, in workerd, through the real SDK on its rpc transport, each behaviour by its id.
import { workspaceBehaviours } from '@helix-agents/workspace-conformance'
import { describe } from 'vitest'
import { availability, skipNote } from './testbed/bench.ts'
import { defineRemoteConformance } from './testbed/remote-conformance.ts'

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  defineRemoteConformance(workspaceBehaviours, 'local', 'rpc')
})

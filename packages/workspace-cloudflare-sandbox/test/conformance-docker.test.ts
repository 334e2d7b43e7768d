// The same kit with the image of the SDK in a real container engine, where there is one.
import { containerEngineAvailability } from '@helix-agents/sandbox-testbed'
import { workspaceBehaviours } from '@helix-agents/workspace-conformance'
import { describe } from 'vitest'
import { deviations } from './testbed/deviations.ts'
import { defineRemoteConformance } from './testbed/remote-conformance.ts'

const engine = await containerEngineAvailability()
const skipNote = engine.available ? '' : ` (skipped: ${engine.reason})`

for (const transport of ['rpc', 'http'] as const) {
  describe.skipIf(!engine.available)(`in a container engine, over ${transport}${skipNote}`, () => {
    defineRemoteConformance(workspaceBehaviours, 'docker', transport, deviations)
  })
}

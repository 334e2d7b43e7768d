// The same kit in a real container engine, where there is one with the image of the SDK or another.
import { containerEngineAvailability } from '@helix-agents/sandbox-testbed'
import { workspaceBehaviours } from '@helix-agents/workspace-conformance'
import { describe } from 'vitest'
import { defineRemoteConformance } from './testbed/remote-conformance.ts'

const engine = await containerEngineAvailability('python')

for (const transport of ['rpc', 'http'] as const) {
  const reason = reasonToSkip(transport)
  const note = reason === undefined ? '' : ` (skipped: ${reason})`
  describe.skipIf(reason !== undefined)(`in a container engine, over ${transport}${note}`, () => {
    defineRemoteConformance(workspaceBehaviours, 'docker', transport)
  })
}

function reasonToSkip(transport: string): string | undefined {
  if (!engine.available) return engine.reason
  if (engine.transports.includes(transport)) return undefined
  return `${engine.image} answers ${engine.transports.join()} only`
}

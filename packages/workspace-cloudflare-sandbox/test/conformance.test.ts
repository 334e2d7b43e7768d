// The kit, in workerd, through the real SDK on its rpc transport, each behaviour by its id: all of
// commands and code. Of the others, which the double runs as well, a sample.
import { TestSampler } from '@helix-agents/core/testing'
import { fileSystemBehaviours, workspaceBehaviours } from '@helix-agents/workspace-conformance'
import { describe } from 'vitest'
import { availability, skipNote } from './testbed/bench.ts'
import { defineRemoteConformance } from './testbed/remote-conformance.ts'

const sampler = new TestSampler()
/** Behaviours of files, which take turns in one sandbox. */
const SAMPLED_FILES = 15
/** Behaviours of the lifecycle, each with sandboxes of its own. */
const SAMPLED_LIFECYCLE = 5

const fileIds = new Set(fileSystemBehaviours.map(({ id }) => id))
const files = workspaceBehaviours.filter(({ id }) => fileIds.has(id))
const inContainers = workspaceBehaviours.filter(({ id }) => /^(?:shell|code)\//.test(id))
const lifecycle = workspaceBehaviours.filter(
  (one) => !files.includes(one) && !inContainers.includes(one),
)
const chosen = [
  ...inContainers,
  ...sampler.pick('files on the test bed', files, SAMPLED_FILES),
  ...sampler.pick('lifecycle on the test bed', lifecycle, SAMPLED_LIFECYCLE),
]

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  defineRemoteConformance(chosen, 'local', 'rpc')
})

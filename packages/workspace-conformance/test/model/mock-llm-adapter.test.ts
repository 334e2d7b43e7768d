import { it } from 'vitest'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { modelBehaviours } from '@helix-agents/workspace-conformance/model'
import { createMockSubject } from './mock-subject.ts'

defineConformance({ it, fails: it.fails }, modelBehaviours, {
  create: async () => createMockSubject(),
})

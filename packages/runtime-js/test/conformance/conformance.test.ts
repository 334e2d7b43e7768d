import { defineConformance } from '@helix-agents/workspace-conformance'
import { executorBehaviours } from '@helix-agents/workspace-conformance/executor'
import { describe, it } from 'vitest'
import { createSubject } from './executor-scenario.ts'

describe('JSAgentExecutor', () => {
  const subject = createSubject()
  defineConformance({ it, fails: it.fails }, executorBehaviours, { create: async () => subject })
})

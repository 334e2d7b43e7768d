import { TestSampler } from '@helix-agents/core/testing'
import { defineWireFaults } from './wire-faults.ts'

defineWireFaults('openai-compatible', new TestSampler())

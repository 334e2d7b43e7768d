import { defineWireFaults } from './wire-faults.ts'

defineWireFaults('openai-compatible')

import { defineWireFaults } from './wire-faults.ts'

defineWireFaults('anthropic messages')

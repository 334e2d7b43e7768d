import { defineWireFaults } from './wire-faults.ts'

defineWireFaults('openai chat completions')

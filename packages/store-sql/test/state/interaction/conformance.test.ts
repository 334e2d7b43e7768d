import { describe } from 'vitest'
import { testStateStore } from '../../conformance.ts'

describe('SqlStateStore: requests, messages and stops', () => {
  testStateStore('interaction')
})

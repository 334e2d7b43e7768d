import { describe } from 'vitest'
import { testStateStore } from '../conformance.ts'

describe('SqlStateStore: sessions, runs and steps', () => {
  testStateStore('sessions')
})

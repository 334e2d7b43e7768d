import { describe } from 'vitest'
import { testStateStore } from '../../conformance.ts'

describe('SqlStateStore: lists, hostile values and limits', () => {
  testStateStore('large')
})

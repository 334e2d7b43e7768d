import { describe } from 'vitest'
import { testStreamManager } from '../conformance.ts'

describe('SqlStreamManager', () => {
  testStreamManager()
})

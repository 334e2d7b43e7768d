// Set up by `pnpm test:quick`. A test says that it is slow by asking for a long timeout, as the
// conformance kit does for its slow behaviours.
import { beforeEach } from 'vitest'

const SLOW_FROM_MS = 90_000

beforeEach((context) => {
  if (context.task.timeout >= SLOW_FROM_MS) context.skip('slow: runs in `pnpm test`')
})

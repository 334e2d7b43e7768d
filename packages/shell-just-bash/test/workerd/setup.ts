import { reset } from 'cloudflare:test'
import { afterEach, beforeAll } from 'vitest'

beforeAll(() => {
  if (navigator.userAgent !== 'Cloudflare-Workers') throw new Error('this is not workerd')
})

// The shell loads with its first command: on a busy machine that takes longer than a command has.
beforeAll(() => import('just-bash'), 120_000)

// All files share one workerd: empty its storage after each test.
afterEach(reset)

import { reset } from 'cloudflare:test'
import { afterEach, beforeAll } from 'vitest'

beforeAll(() => {
  if (navigator.userAgent !== 'Cloudflare-Workers') throw new Error('this is not workerd')
})

// All files share one workerd: empty its storage after each test.
afterEach(reset)

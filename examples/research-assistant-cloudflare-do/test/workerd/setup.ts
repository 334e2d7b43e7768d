import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterEach, beforeAll } from 'vitest'

beforeAll(() => {
  if (navigator.userAgent !== 'Cloudflare-Workers') throw new Error('this is not workerd')
})

// What still runs ends, and what is stored goes.
afterEach(async () => {
  await abortAllDurableObjects()
  await reset()
})

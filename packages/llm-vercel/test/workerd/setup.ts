import { beforeAll } from 'vitest'

beforeAll(() => {
  if (navigator.userAgent !== 'Cloudflare-Workers') throw new Error('this is not workerd')
})

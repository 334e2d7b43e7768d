import { expect, test } from 'vitest'
import { bundles } from './harness/bundles.ts'

test.each(bundles)('$name: no larger than $limitKb kB', async (bundle) => {
  const { bytes, imports } = await bundle.size()
  expect(new Set(bundle.imports ? imports : [])).toEqual(new Set(bundle.imports))
  expect(bytes / 1024).toBeLessThan(bundle.limitKb)
})

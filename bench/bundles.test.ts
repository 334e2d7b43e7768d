import { expect, test } from 'vitest'
import { bundles } from './harness/bundles.ts'

const ENGINES = /just-bash|quickjs/

test.each(bundles)('$name: no larger than $limitKb kB', async (bundle) => {
  const { bytes, files, imports } = await bundle.size()
  expect(new Set(bundle.imports ? imports : [])).toEqual(new Set(bundle.imports))
  // An agent that declares no engine has no byte of one, not even in what it loads later.
  expect([...files, ...imports].filter((name) => ENGINES.test(name))).toEqual([])
  expect(bytes / 1024).toBeLessThan(bundle.limitKb)
})

import { expect, test } from 'vitest'
import { assetsFile, renderAssets } from './dashboard-assets.ts'
import { read } from './repository.ts'

test('the dashboard in the package is the one in its folder', () => {
  expect(read(assetsFile), 'run `pnpm dashboard:gen`').toBe(renderAssets())
})

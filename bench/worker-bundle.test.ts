import { expect, test } from 'vitest'
import { bundleWorker, workerSource } from './harness/worker-bundle.ts'

test.each([
  ['without files', false, 156],
  ['with the filestore', true, 225],
])('a Worker %s needs nothing of Node, and is small', async (name, hasFiles, mostKb) => {
  const { bytes, imports } = await bundleWorker(workerSource({ hasFiles }))
  console.log(`bundle of a Worker ${name}: ${(bytes / 1024).toFixed(1)} kB gzipped`)
  expect(new Set(imports)).toEqual(new Set(['cloudflare:workers']))
  expect(bytes / 1024).toBeLessThan(mostKb)
})

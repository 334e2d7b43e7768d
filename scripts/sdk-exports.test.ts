import { expect, test } from 'vitest'
import { read } from './repository.ts'
import { renderIndex, umbrella } from './sdk-exports.ts'

test('the umbrella re-exports what its packages offer to users, types included', () => {
  expect(read('packages/sdk/src/index.ts')).toBe(renderIndex())
})

test('no two packages of the umbrella give one name to two things', () => {
  const names = [...renderIndex().matchAll(/(?<=[\s{](?:type )?(?:\w+ as )?)\w+(?=,\n| })/g)]
  const all = names.map((match) => match[0])
  expect(all.length).toBeGreaterThan(80)
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
})

test('the packages of the umbrella have no other kind of export', () => {
  const others = umbrella.filter((name) =>
    /^export (?!(?:type )?\{)/m.test(read(`packages/${name}/src/index.ts`)),
  )
  expect(others).toEqual([])
})

import { expect, test } from 'vitest'
import { read } from './repository.ts'
import { renderEntry, sourceOf, umbrella } from './sdk-exports.ts'

const entries = Object.keys(umbrella)

test.each(entries)('sdk/%s re-exports what its packages offer to users, types included', (name) => {
  expect(read(`packages/sdk/src/${name}.ts`)).toBe(renderEntry(name))
})

test('no two packages of the umbrella give one name to two things', () => {
  const text = entries.map(renderEntry).join('')
  const names = [...text.matchAll(/(?<=[\s{](?:type )?(?:\w+ as )?)\w+(?=,\n| })/g)]
  const all = names.map((match) => match[0])
  expect(all.length).toBeGreaterThan(80)
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([])
})

test('the packages of the umbrella have no other kind of export', () => {
  const known = /^export (?!(?:type )?\{|(?:async )?(?:function|class|interface|type) )/m
  expect(
    Object.values(umbrella)
      .flat()
      .filter((entry) => known.test(sourceOf(entry))),
  ).toEqual([])
})

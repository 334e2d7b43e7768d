import { describe, expect, test } from 'vitest'
import { entryPoints, nameLists } from './public-names.ts'
import { packageFolders } from './repository.ts'

const entries = packageFolders().flatMap((folder) => entryPoints(folder))

test.each(nameLists())('$file lists the public names: `pnpm api:gen` writes it', (list) => {
  expect(list.current).toBe(list.derived)
})

test('a name of core stands behind one entry point', () => {
  const core = entries.filter(({ specifier }) => specifier.startsWith('@helix-agents/core'))
  const names = core.flatMap(({ declarations }) => declarations.map(({ name }) => name))
  expect(core.length).toBe(4)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

describe('a public name', () => {
  test('means one thing in all packages', () => {
    const meanings = new Map<string, Set<string>>()
    for (const { name, file } of entries.flatMap(({ declarations }) => declarations)) {
      meanings.set(name, (meanings.get(name) ?? new Set()).add(file))
    }
    const twice = [...meanings].filter(([, files]) => files.size > 1).map(([name]) => name)
    expect(twice).toEqual([])
  })

  test('has TSDoc that says what it is', () => {
    const silent = entries.flatMap(({ specifier, declarations }) =>
      declarations.filter(({ says }) => says === '').map(({ name }) => `${specifier}: ${name}`),
    )
    expect(silent).toEqual([])
  })
})

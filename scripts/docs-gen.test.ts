import { expect, test } from 'vitest'
import * as forAgents from '../packages/core/src/index.ts'
import * as forProviders from '../packages/core/src/provider.ts'
import * as forRuntimes from '../packages/core/src/runtime.ts'
import { apiPages } from './docs/api-pages.ts'
import { type Declaration, declarationsOf, type Kind } from './docs/declarations.ts'
import { constructorOf, membersOf, typeText } from './docs/members.ts'
import { derivePages } from './docs/pages.ts'
import { localInstall, publication } from './docs/publication.ts'
import { SourceFile } from './docs/source-file.ts'
import { packageFolders, readManifest } from './repository.ts'

test.each(derivePages())('the generated sections of $file are up to date', (page) => {
  expect(page.current).toBe(page.derived)
})

test('the docs have generated sections', () => {
  expect(derivePages().length).toBeGreaterThan(3)
})

test('one file says whether the packages are on npm', () => {
  expect(publication(false)).toContain(`\n${localInstall.inProject}\n`)
  expect(publication(true)).not.toMatch(/404|tarballs/)
  expect([publication(true), publication(false)]).toContain(publication())
})

test('each package has a page in the API reference, with all that it exports', () => {
  const pages = new Map(apiPages().map(({ file, derived }) => [file, derived]))
  for (const folder of packageFolders()) {
    expect(pages.get(`docs/reference/${folder}.md`)).toContain(
      readManifest(`packages/${folder}`).name,
    )
  }
  const core = pages.get('docs/reference/core.md') ?? ''
  for (const name of Object.keys({ ...forAgents, ...forProviders, ...forRuntimes }))
    expect(core).toMatch(new RegExp(`\`${name}[\`(]`))
})

/** The declaration of a text, which it begins with. */
function declared<K extends Kind>(kind: K, text: string): Extract<Declaration, { kind: K }> {
  const [found] = declarationsOf('text.ts', new SourceFile('text.ts', `export ${text}`))
  if (found?.kind !== kind) throw new Error(`no ${kind}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its kind was compared
  return found as Extract<Declaration, { kind: K }>
}

test('a signature is read as it is written', () => {
  const [made] = membersOf(
    declared(
      'interface',
      `interface Store<T> {
  /**
   * Puts it.
   * @throws {StateStoreError} \`conflict\`
   */
  put<K extends string>(
    key: K,
    value: { readonly a: T; b?: Map<K, T> },
    options?: PutOptions,
  ): Promise<void>
}
`,
    ),
  )
  expect(made).toEqual({
    name: 'put(key, value, options?)',
    type: 'Promise<void>',
    says: 'Puts it. Throws `StateStoreError` `conflict`.',
  })
  const declaration = declared(
    'class',
    `class Box extends Base {
  readonly size = 1
  #secret: string
  constructor(size: number, { deep = false }: Options = {}) {
    super()
  }
  get name(): string {
    return ''
  }
  private hide(): void {}
  static of(...all: Box[]): Box {
    return all[0]
  }
}
`,
  )
  expect(constructorOf(declaration)).toBe('new Box(size, options?)')
  expect(membersOf(declaration).map(({ name, type }) => `${name} ${type}`)).toEqual([
    'size ',
    'name string',
    'of(...all) Box',
  ])
  const kind = declared('type', "type Kind =\n  | 'a' // one\n  | 'b'\n\nconst x = 1\n")
  expect(typeText(kind)).toBe("'a' | 'b'")
})

import { expect, test } from 'vitest'
import { llmsTexts } from '../docs/.vitepress/llms.ts'
import { sidebarGroups } from '../docs/.vitepress/sidebar.ts'
import { find } from './repository.ts'

const groups = sidebarGroups()
const texts = llmsTexts({ title: 'Title', description: 'Sentence.' }, groups)
const [list = '', whole = ''] = [texts.get('llms.txt'), texts.get('llms-full.txt')]

test('every page of the docs stands once in the sidebar', () => {
  const links = groups.flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`))
  const pages = find(['docs/{guide,recipes,modules,providers,reference}/*.md'])
  expect(links.toSorted()).toEqual([...pages].toSorted())
})

test('llms.txt links every page, and each link is a file of the site', () => {
  expect(list).toMatch(
    /^# Title\n\n> Sentence\.\n\n## Start\n\n- \[Quick start\]\(\/guide\/quick-start\.md\)\n/,
  )
  const linked = [...list.matchAll(/\]\(\/(?<path>[^)]+)\)/g)].map(
    ({ groups: named }) => named?.path ?? '',
  )
  expect(linked.filter((path) => (texts.get(path) ?? '') === '')).toEqual([])
  expect(linked).toHaveLength(texts.size - 2)
})

test('llms-full.txt holds the guide without the API reference and without marks of the generator', () => {
  expect(whole).toContain('# Troubleshooting\n')
  expect(whole).not.toContain('# `@helix-agents/core`')
  expect([...texts.values()].filter((text) => /<!-- (?:end of )?generated/.test(text))).toEqual([])
})

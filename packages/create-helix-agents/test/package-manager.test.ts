import { expect, test } from 'vitest'
import { findPackageManager } from '../src/package-manager.ts'

test.each([
  ['npm inside pnpm', { npm_config_user_agent: 'pnpm/12', npm_execpath: '/n/npm-cli.js' }, 'npm'],
  ['pnpm', { npm_config_user_agent: 'pnpm/12', npm_execpath: '/n/pnpm.cjs' }, 'pnpm'],
  ['bun', { npm_config_user_agent: 'bun/1', npm_execpath: '/n/bun' }, 'bun'],
  ['none', {}, 'npm'],
])('the program that started it installs: %s', (_, env, name) => {
  expect(findPackageManager(env).name).toBe(name)
})

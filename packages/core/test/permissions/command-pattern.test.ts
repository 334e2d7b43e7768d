import { expect, test } from 'vitest'
import { matchesCommand, parseCommandPattern } from '../../src/permissions/command-pattern.ts'
import { readCommandLine } from '../../src/modules/shell/command-line.ts'

function isMatch(pattern: string, line: string): boolean {
  const parsed = parseCommandPattern(pattern).pattern
  if (parsed === undefined) throw new Error(`no pattern: ${pattern}`)
  return readCommandLine(line).commands.some((words) => matchesCommand(parsed, words))
}

test.each<[pattern: string, matching: string[], others: string[]]>([
  [
    'git push *',
    ['git push', 'git push origin', "'git' pu\\sh", '/usr/bin/git push', 'GIT push', 'a; git push'],
    ['git', 'git pull', 'git pushy', 'git commit -m push', 'mygit push', 'echo git push'],
  ],
  ['git push', ['git push', 'git push origin main'], ['git status']],
  [
    'git push *',
    [
      'git -C /x push',
      'git -c a=b --no-pager push',
      'git --git-dir=x push',
      'git $X',
      'git pu?h',
      'git -v status push',
    ],
    ['git log --grep push', 'git -C x log push', 'git status push'],
  ],
  [
    'git push --force *',
    ['git push --force', 'git push origin main --force', 'git push --force=1', 'git push $ARGS'],
    ['git push --force-with-lease', 'git push', 'git --force'],
  ],
  [
    'rm -rf *',
    ['rm -rf x', 'rm -fr x', 'rm -r -f x', 'rm -r x -fv', 'rm x -rf'],
    ['rm -r x', 'rm -f x', 'rm --recursive x', 'rm rf'],
  ],
  [
    'npm run * --prod',
    ['npm run build --prod', 'npm run x --prod y'],
    ['npm run --prod', 'npm run x'],
  ],
  ['*', ['ls', 'anything at all'], []],
  ['* --force', ['git push --force', 'rm --force'], ['rm -f']],
  ['deploy-*', ['deploy-prod', 'bin/deploy-x --now'], ['deploy', 'predeploy-x']],
  ['*.sh', ['./build.sh', 'a/b.sh x'], ['build.shx', 'sh build.sh']],
  ['./tool x', ['./tool x'], ['tool x', '/a/tool x']],
  [
    'kubectl delete *',
    ['env K=1 kubectl delete x', 'sudo -u x kubectl delete y', "sh -c 'kubectl delete z'"],
    [],
  ],
  [`"my tool" 'a b'`, [`"my tool" 'a b'`, `my\\ tool "a b" c`], ['my tool a b']],
  ['a*b*c', ['abc', 'axbxc', 'abbc'], ['ab', 'acb', 'abcd']],
])('%s', (pattern, matching, others) => {
  expect(matching.filter((line) => !isMatch(pattern, line))).toEqual([])
  expect(others.filter((line) => isMatch(pattern, line))).toEqual([])
})

test('a pattern of many stars takes no time', () => {
  const parsed = parseCommandPattern(`x ${'*a'.repeat(200)}b`).pattern!
  const words = ['x', 'a'.repeat(100_000)]
  const times = [1, 2, 3].map(() => {
    const start = process.threadCpuUsage()
    expect(matchesCommand(parsed, words)).toBe(false)
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1000
  })
  expect(Math.min(...times)).toBeLessThan(20)
})

import { describe, expect, it } from 'vitest'
import { toInnerTarget } from '../../src/snapshots/link-target.ts'

describe('the target of a link', () => {
  const roots = ['/workspace', '/tmp/ws/root']
  it.each([
    ['/a', 'b', 'b'],
    ['/a', './b//c/.', 'b/c'],
    ['/a', '.', '.'],
    ['/a', '', '.'],
    ['/d/a', '..', '..'],
    ['/d/a', '../b', '../b'],
    ['/d/e/a', '../../b', '../../b'],
    ['/a', '/workspace', '.'],
    ['/a', '/workspace/', '.'],
    ['/a', '/workspace/b', 'b'],
    ['/d/a', '/workspace/b', '../b'],
    ['/d/a', '/workspace', '..'],
    ['/d/a', '/workspace/d', '.'],
    ['/d/a', '/tmp/ws/root//d/./b', 'b'],
  ])('of %s to %s is held as %s', (path, target, expected) => {
    expect(toInnerTarget(path, target, roots)).toBe(expected)
  })
  it.each([
    ['/a', '..'],
    ['/a', '../b'],
    ['/d/a', '../../b'],
    ['/d/a', 'b/../c'],
    ['/d/e/a', '../b/../../c'],
    ['/a', '/'],
    ['/a', '/etc'],
    ['/a', '/workspaces/b'],
    ['/a', '/workspace/../etc'],
    ['/a', '/workspace/b/../c'],
  ])('of %s to %s is not held', (path, target) => {
    expect(toInnerTarget(path, target, roots)).toBeUndefined()
  })
})

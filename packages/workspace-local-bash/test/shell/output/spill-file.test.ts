import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SpillFile } from '../../../src/shell/output/spill-file.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-spill-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('a file of a whole output', () => {
  it('holds what fits, and is whole up to there', () => {
    const spill = new SpillFile(join(scratch, 'spill'), 4)
    expect(spill.isWhole).toBe(true)
    spill.write(Buffer.from('ab'))
    spill.write(Buffer.from('cd'))
    expect(spill.isWhole).toBe(true)
    spill.write(Buffer.from('e'))
    expect(spill.isWhole).toBe(false)
    spill.write(Buffer.from('f'))
    spill.close()
    spill.close()
    expect(readFileSync(spill.hostPath, 'utf8')).toBe('abcd')
    spill.remove()
    spill.remove()
    expect(existsSync(spill.hostPath)).toBe(false)
  })
  it('is not whole when it cannot be written', () => {
    const spill = new SpillFile(join(scratch, 'no', 'directory'), 100)
    spill.write(Buffer.from('ab'))
    expect(spill.isWhole).toBe(false)
    writeFileSync(join(scratch, 'there'), 'of somebody')
    const taken = new SpillFile(join(scratch, 'there'), 100)
    taken.write(Buffer.from('ab'))
    expect([taken.isWhole, readFileSync(taken.hostPath, 'utf8')]).toEqual([false, 'of somebody'])
  })
})

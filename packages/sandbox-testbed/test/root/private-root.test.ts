import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  sandboxTestbedAvailability,
  startSandboxTestbed,
  type SandboxTestbed,
} from '../../src/index.ts'
import { callSandbox, execute, WORKER } from '../fixture/call.ts'

/** Both ways must hold what the other does. */
describe.each(['bubblewrap', 'unshare'] as const)('a private root by %s', async (isolation) => {
  const here = await sandboxTestbedAvailability(isolation)
  if (!here.available) process.stderr.write(`skipped: ${here.reason}\n`)

  describe.skipIf(!here.available)('holds', () => {
    let testbed: SandboxTestbed
    beforeAll(async () => {
      testbed = await startSandboxTestbed({
        worker: WORKER,
        isolation,
        limits: { processes: 60, fileBytes: 2 ** 20, memoryBytes: 2 ** 30 },
      })
    }, 120_000)
    afterAll(() => testbed?.stop())

    const run = async (sandbox: string, command: string) => {
      const { value } = await execute(testbed, sandbox, command)
      return value ?? {}
    }

    it('is what was asked for', () => {
      expect(testbed.isolation).toBe(isolation)
    })

    it('has its own system folders, writable, and programs that are not', async () => {
      const folders = '/workspace /home /root /tmp /var /etc'
      const write = `for d in ${folders}; do echo x > $d/file && cat $d/file || exit 9; done`
      expect(await run('one', write)).toMatchObject({ exitCode: 0, stdout: 'x\n'.repeat(6) })
      for (const folder of ['/usr/bin', '/usr/lib', '/usr/local/bin', '/bin', '/usr/local']) {
        expect(await run('one', `touch ${folder}/file`)).toMatchObject({ exitCode: 1 })
      }
    })

    it('puts the disk into its folder on the host', async () => {
      await run('one', 'echo here > /workspace/seen')
      const root = (await testbed.sandbox('one'))?.root ?? ''
      expect(existsSync(join(root, 'workspace/seen'))).toBe(true)
    })

    it('runs as root of its own namespaces', async () => {
      const { stdout } = await run('one', 'id -u; id -un; hostname; ls /proc | grep -c "^[0-9]"')
      const [uid, name, host, processes] = String(stdout).split('\n')
      expect([uid, name, host]).toEqual(['0', 'root', 'sandbox'])
      expect(Number(processes)).toBeLessThan(20)
    })

    it('offers bash, Node and the devices', async () => {
      const { stdout } = await run(
        'one',
        'node -p 1+1; echo x > /dev/null; head -c 3 /dev/zero | wc -c',
      )
      expect(stdout).toBe('2\n3\n')
      expect(
        (await run('one', 'echo $$ | tee /dev/stderr >/dev/shm/f; cat <(echo sub)')).stdout,
      ).toBe('sub\n')
    })

    it('shows nothing of the host', async () => {
      const secret = join(import.meta.dirname, 'private-root.test.ts')
      expect(await run('one', `cat ${secret}`)).toMatchObject({ exitCode: 1 })
      process.env.HELIX_TESTBED_SECRET = 'of the host'
      expect(String((await run('two', 'env')).stdout)).not.toContain('of the host')
      const all = 'cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" "\\n"'
      expect(String((await run('two', all)).stdout)).not.toContain(process.cwd())
      const passwd = String((await run('one', 'cat /etc/passwd')).stdout)
      expect(passwd.split('\n')).toHaveLength(3)
    })

    it('cannot undo its mounts', async () => {
      for (const attempt of ['mount -o remount,rw /usr', 'umount /usr', 'mount -t tmpfs x /mnt']) {
        expect((await run('one', attempt)).exitCode).not.toBe(0)
      }
      expect((await run('one', 'echo 1 > /proc/sys/vm/overcommit_memory')).exitCode).not.toBe(0)
    })

    it('survives, on the host, the removal of everything inside', async () => {
      const before = fingerprint()
      await run(
        'wiped',
        'rm -rf --no-preserve-root /workspace /home /root /etc /usr/bin /usr/local/bin /var /opt',
      )
      expect(fingerprint()).toBe(before)
      expect(statSync('/usr/bin/env').size).toBeGreaterThan(0)
      // Without a directory to start in no command starts: the SDK behaves like that too.
      const call = { sandbox: 'wiped', method: 'exec', arguments: ['echo fine', { cwd: '/' }] }
      expect((await callSandbox(testbed, call)).value?.stdout).toBe('fine\n')
    })

    it('bounds a storm of processes, and works afterwards', async () => {
      const storm = `
        const { spawn } = require('node:child_process')
        let refused = 0
        for (let n = 0; n < 200; n++) spawn('sleep', ['1']).on('error', () => refused++)
        process.on('exit', () => console.log(refused > 100))`
      expect((await run('storm', `node -e "${storm}"`)).stdout).toBe('true\n')
      expect((await run('storm', 'echo after')).stdout).toBe('after\n')
    }, 120_000)

    it('bounds the size of a file and the memory of a process', async () => {
      const big = await run('one', 'head -c 2M /dev/zero > /workspace/big')
      expect(big.exitCode).not.toBe(0)
      expect((await run('one', 'stat -c %s /workspace/big')).stdout).toBe(`${2 ** 20}\n`)
      const hungry = `node -e 'const a = []; for (;;) a.push(Buffer.alloc(2 ** 26, 1))' 2>/dev/null`
      expect((await run('one', hungry)).exitCode).not.toBe(0)
    }, 120_000)
  })
})

/** Names and sizes of what a careless container would have destroyed first. */
function fingerprint(): string {
  const folders = ['/usr/bin', '/etc', '/usr/local/bin', import.meta.dirname]
  const names = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return createHash('sha256').update(names.join('\n')).digest('hex')
}

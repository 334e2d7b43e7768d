// What a command changes in the files of a Durable Object is stored together, however it ends.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { noopLogger, systemClock } from '@helix-agents/core'
import type { RunResult, Workspace } from '@helix-agents/core/provider'
import { justBashShell, type ShellCommandDefinition } from '@helix-agents/shell-just-bash'
import {
  CloudflareFileStoreWorkspaceProvider,
  type CloudflareFileStoreProviderOptions,
} from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'

interface Fixture {
  readonly ws: Workspace
  readonly counts: { transactions: number }
  readonly run: (command: string, timeoutMs?: number) => Promise<RunResult>
}

interface Setup extends Partial<CloudflareFileStoreProviderOptions> {
  readonly commands?: (ws: () => Workspace | undefined) => readonly ShellCommandDefinition[]
}

function inObject(
  { commands, ...setup }: Setup,
  act: (it: Fixture) => Promise<void>,
): Promise<void> {
  const stub = env.FILES.get(env.FILES.newUniqueId())
  return runInDurableObject(stub, async (_, { storage }) => {
    const counts = { transactions: 0 }
    let opened: Workspace | undefined
    const counted = {
      sql: storage.sql,
      transactionSync: <T>(work: () => T): T => {
        counts.transactions += 1
        return storage.transactionSync(work)
      },
    }
    const shell = justBashShell({ commands: commands?.(() => opened) ?? [] })
    const provider = new CloudflareFileStoreWorkspaceProvider({ storage: counted, shell, ...setup })
    const session = { sessionId: 'one', agentType: 'tester' }
    const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, {
      workspace: 'box',
      capabilities: {},
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    })
    opened = ws
    const run: Fixture['run'] = async (command, timeoutMs = 60_000) => {
      const result = await ws.shell?.run(command, { timeoutMs })
      if (result === undefined) throw new Error('no shell')
      return result
    }
    await act({ ws, counts, run })
    await ws.close()
  })
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

test('a loop that writes 200 files and appends to one is one transaction', () =>
  inObject({}, async ({ ws, counts, run }) => {
    // A program that is loaded is a wait.
    await run('mkdir -p loaded; seq 1; echo 1')
    counts.transactions = 0
    const { exitCode } = await run(
      'mkdir -p out/deep && for i in $(seq 200); do echo $i > out/deep/f$i; echo $i >> log; done',
    )
    expect([exitCode, counts.transactions]).toEqual([0, 1])
    expect(await ws.fs?.ls('/out/deep')).toHaveLength(200)
    expect((await ws.fs?.stat('/log'))?.size).toBe(692)
  }))

test('what a command wrote before its time was up is stored', () =>
  inObject({}, async ({ ws, run }) => {
    // What is loaded first takes of the time.
    await run('echo loaded > c; sleep 0')
    const { timedOut } = await run('echo kept > a; echo more >> a; sleep 60; echo never > b', 200)
    expect(timedOut).toBe(true)
    expect(textOf(await ws.fs?.readFile('/a'))).toBe('kept\nmore\n')
    expect((await ws.fs?.ls('/'))?.map(({ name }) => name)).not.toContain('b')
  }))

test('a command that waits shows others what it wrote', () =>
  inObject({}, async ({ ws, run }) => {
    const running = run('echo early > a; sleep 1; cat b')
    await expect
      .poll(() =>
        ws.fs?.stat('/a').then(
          ({ size }) => size,
          () => 0,
        ),
      )
      .toBe(6)
    await ws.fs?.writeFile('/b', 'from outside')
    expect(textOf((await running).stdout)).toBe('from outside')
  }))

const readsA: Setup['commands'] = (ws) => [
  { name: 'host-cat', run: async () => ({ stdout: (await ws()?.fs?.readFile('/a')) ?? '' }) },
]

test('a command of the host finds what the script wrote before', () => {
  return inObject({ commands: readsA }, async ({ run }) => {
    expect(textOf((await run('echo seen > a; host-cat')).stdout)).toBe('seen\n')
  })
})

test('a full workspace fails the command that fills it', () =>
  inObject({ maxBytes: 1000 }, async ({ ws, run }) => {
    const { stderr, exitCode } = await run('seq 100 > a; seq 1000 > b; echo small > c')
    expect(exitCode).toBe(1)
    expect(textOf(stderr)).toContain("no space left on device, open '/workspace/b'")
    expect((await ws.fs?.stat('/a'))?.size).toBe(292)
  }))

test('times that touch sets hold once the file is stored', () =>
  inObject({}, async ({ run }) => {
    await run('echo a > a; touch -d 2020-01-02 a')
    expect(textOf((await run('ls -l --full-time a || ls -l a')).stdout)).toContain('2020')
  }))

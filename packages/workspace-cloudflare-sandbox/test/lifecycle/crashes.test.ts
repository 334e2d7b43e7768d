// A crash at every call of a driver: the process is gone, the store has what it had. Afterwards
// every sandbox is one that the directory knows, and the session gets its files or the truth.
import type { OpenedWorkspace, WorkspaceRef } from '@helix-agents/core/provider'
import type { SandboxDirectoryEntry } from '@helix-agents/workspace-cloudflare-sandbox'
import { expect, test } from 'vitest'
import { Bench } from '../double/open-on-double.ts'

interface Story {
  readonly bench: Bench
  readonly known: Set<string>
  /** What the store has; set after each open, as a registry does. */
  stored: WorkspaceRef | undefined
}

class Crash extends Error {}

function createStory(): Story {
  const known = new Set<string>()
  const directory = {
    recordOpening: async ({ sandboxId }: SandboxDirectoryEntry) => void known.add(sandboxId),
    recordDestroyed: async () => {},
    recordDestroyFailed: async () => {},
  }
  const config = { backupR2Binding: 'BACKUP_BUCKET', autoRestore: true } as const
  return { bench: new Bench(config, { directory }), known, stored: undefined }
}

/** Opens as a registry does: by the stored ref, else anew; then stores the ref. */
async function attach(story: Story): Promise<OpenedWorkspace> {
  const { stored, bench } = story
  const opened =
    stored === undefined
      ? await bench.open()
      : await bench.resolve(stored).catch((error: unknown) => {
          if ((error as { code?: string }).code === 'lost') return bench.open()
          throw error
        })
  story.stored = opened.ref
  return opened
}

/** One file, a snapshot of it, sleep, restore, a fork of the snapshot. */
async function play(story: Story): Promise<void> {
  const { ws } = await attach(story)
  await ws.fs!.writeFile('/a', 'kept')
  const snapshot = await ws.snapshot!.snapshot()
  story.stored = ws.changedRef!
  await ws.detach!()
  story.bench.world.sleep()
  const restored = await attach(story)
  await restored.ws.fs!.readFile('/a')
  const fork = await restored.ws.snapshot!.restore(snapshot)
  const forked = await story.bench.resolve(fork)
  story.stored = forked.ref
  await forked.ws.detach!()
}

async function callsOf(): Promise<number> {
  const story = createStory()
  await play(story)
  return story.bench.world.calls.length
}

const count = await callsOf()

test('the story has a number of calls worth crashing', () => {
  expect(count).toBeGreaterThan(8)
})

test.each(Array.from({ length: count }, (_, index) => index + 1))(
  'crash before call %i',
  async (fatal) => {
    const story = createStory()
    const { bench, known } = story
    bench.world.onCall = () => {
      if (bench.world.calls.length === fatal) throw new Crash('the process is gone')
    }
    await expect(play(story)).rejects.toBeInstanceOf(Error)
    bench.world.onCall = () => {}
    const stored = story.stored?.ref as { snapshot?: object | null } | undefined
    const hadSnapshot = typeof stored?.snapshot === 'object' && stored.snapshot !== null
    bench.restart()

    const { ws, receipt } = await attach(story)
    const names = (await ws.fs!.ls('/')).map(({ name }) => name)
    const wanted = hadSnapshot ? ['a'] : receipt.outcome === 'cold' ? [] : names
    expect(names).toEqual(wanted)
    expect([...bench.world.touched].filter((id) => !known.has(id))).toEqual([])
  },
)

import { HelixError, WorkspaceFailedError } from '@helix-agents/core'
import type { OpenedWorkspace, Workspace, WorkspaceRef } from '@helix-agents/core/provider'
import { check, equal, rejectionOf, rejectsWithCode, textOf } from '../assert.ts'
import { unguessable } from '../unguessable.ts'
import { aimAtDecoys } from './aim-at-decoys.ts'
import { countTexts, forgeEachText, forgeTexts, respellTexts } from './forge-texts.ts'
import { GONE, type ProviderBehaviour } from './lifecycle.ts'
import { type ProviderSubject } from './provider-subject.ts'

/** A stored ref with some fields replaced. Values of any type: that is the point. */
type Forged = Readonly<Record<string, unknown>>

/** A detached workspace's ref, as it comes back from a store. */
async function storedRef(subject: ProviderSubject): Promise<WorkspaceRef & Forged> {
  const { ref, ws } = await subject.open()
  await ws.detach?.()
  const stored: unknown = JSON.parse(JSON.stringify(ref))
  check(isRef(stored), 'a ref with its four fields')
  return stored
}

function isRef(value: unknown): value is WorkspaceRef & Forged {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['providerId', 'schemaVersion', 'capabilities', 'ref'].every((field) => field in value)
  )
}

async function accepts(subject: ProviderSubject, ref: WorkspaceRef): Promise<void> {
  equal((await subject.resolve(ref)).receipt.outcome, 'reattached')
}

const payloadOf = (ref: WorkspaceRef): object => {
  check(typeof ref.ref === 'object' && ref.ref !== null, 'a ref whose payload is an object')
  return ref.ref
}

async function rejectsVersion(subject: ProviderSubject, distance: number): Promise<void> {
  const ref = await storedRef(subject)
  const schemaVersion = ref.schemaVersion + distance
  const error = await rejectionOf(() => subject.resolveForged({ ...ref, schemaVersion }))
  check(HelixError.isInstance(error), 'a HelixError')
  equal(error.code, 'ref-version')
  const names = ['schemaVersion', String(schemaVersion)].filter((it) => error.message.includes(it))
  equal(names, ['schemaVersion', String(schemaVersion)])
}

const NOT_REFS = [null, undefined, 'ref', 7, [], {}]

async function rejectsEach(
  subject: ProviderSubject,
  forge: (ref: WorkspaceRef & Forged) => readonly unknown[],
): Promise<void> {
  const ref = await storedRef(subject)
  for (const forged of forge(ref)) {
    await rejectsWithCode('ref-invalid', () => subject.resolveForged(forged))
  }
  await accepts(subject, ref)
}

/** Clauses about refs: versions, damage and forgery. */
export const refBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'refs/json/survives-a-round-trip',
    run: async (subject) => {
      const { ref } = await subject.open()
      const stored: unknown = JSON.parse(JSON.stringify(ref))
      equal(JSON.stringify(stored), JSON.stringify(ref))
      check(isRef(stored), 'a ref with its four fields')
      await accepts(subject, stored)
    },
  },
  {
    id: 'refs/json/holds-no-secret',
    run: async (subject) => {
      const { ref } = await subject.open()
      const shown = (subject.harness.secrets ?? []).filter((it) => JSON.stringify(ref).includes(it))
      equal(shown, [])
      equal(JSON.stringify(ref).length < 4096, true)
    },
  },
  {
    id: 'refs/version/the-previous-one-is-read',
    run: async (subject) => {
      const ref = await storedRef(subject)
      const older = { ...ref, schemaVersion: ref.schemaVersion - 1 }
      await accepts(subject, subject.harness.olderRef?.(ref) ?? older)
    },
  },
  {
    id: 'refs/version/of-the-next-one-what-is-known-is-read',
    run: async (subject) => {
      const ref = await storedRef(subject)
      const payload = { ...payloadOf(ref), addedLater: { deep: [1] } }
      await accepts(subject, { ...ref, schemaVersion: ref.schemaVersion + 1, ref: payload })
    },
  },
  {
    id: 'refs/version/two-ahead-is-rejected-by-name',
    run: (subject) => rejectsVersion(subject, 2),
  },
  {
    id: 'refs/version/far-ahead-is-rejected-by-name',
    run: (subject) => rejectsVersion(subject, 1000),
  },
  {
    id: 'refs/version/two-behind-is-rejected',
    run: async (subject) => {
      const ref = await storedRef(subject)
      const schemaVersion = ref.schemaVersion - 2
      // Version -1 is not a version at all.
      const code = schemaVersion < 0 ? ['ref-version', 'ref-invalid'] : 'ref-version'
      await rejectsWithCode(code, () => subject.resolveForged({ ...ref, schemaVersion }))
    },
  },
  {
    id: 'refs/invalid/an-unknown-field',
    run: (subject) =>
      rejectsEach(subject, (ref) => [
        { ...ref, unknown: 1 },
        { ...ref, ref: { ...payloadOf(ref), unknown: 1 } },
        { ...ref, capabilities: { ...ref.capabilities, unknown: true } },
      ]),
  },
  {
    id: 'refs/invalid/a-prototype-key',
    run: (subject) =>
      rejectsEach(subject, (ref) => {
        const text = JSON.stringify(ref)
        const payload = JSON.stringify(ref.ref)
        const forged = `{"__proto__":{"polluted":true},${payload.slice(1)}`
        return [
          JSON.parse(`{"__proto__":{"polluted":true},${text.slice(1)}`),
          JSON.parse(JSON.stringify({ ...ref, ref: 0 }).replace(/"ref":0/, `"ref":${forged}`)),
          { ...ref, ref: { ...payloadOf(ref), constructor: {} } },
        ]
      }),
  },
  {
    id: 'refs/invalid/a-wrong-type',
    run: (subject) =>
      rejectsEach(subject, (ref) => [
        ...NOT_REFS,
        ...['1', 1.5, null, undefined, Number.NaN].map((it) => ({ ...ref, schemaVersion: it })),
        ...[null, 7, ''].map((it) => ({ ...ref, providerId: it })),
        ...[null, [], { fs: 'yes' }].map((it) => ({ ...ref, capabilities: it })),
      ]),
  },
  {
    id: 'refs/invalid/a-wrong-payload',
    run: (subject) =>
      rejectsEach(subject, (ref) => [
        ...[null, undefined, 7, 'payload', [], {}].map((it) => ({ ...ref, ref: it })),
        ...Object.keys(payloadOf(ref)).map((key) => ({
          ...ref,
          ref: { ...payloadOf(ref), [key]: { nested: true } },
        })),
      ]),
  },
  {
    id: 'refs/invalid/of-another-provider',
    run: (subject) => rejectsEach(subject, (ref) => [{ ...ref, providerId: 'another-provider' }]),
  },
  {
    id: 'refs/invalid/a-forged-payload-opens-nothing',
    run: async (subject) => {
      const mine = await subject.open()
      const { ref } = mine
      check(countTexts(ref.ref) > 0, 'a payload with an id')
      const target = await aimAtDecoys(subject, mine)
      const codes = ['ref-invalid', ...GONE]
      for (const payload of respellTexts(target.ref.ref)) {
        await rejectsWithCode(codes, () => subject.resolveForged({ ...ref, ref: payload }))
      }
      for (const id of target.ids) {
        const payload = forgeTexts(ref.ref, id)
        await rejectsWithCode(codes, () => subject.resolveForged({ ...ref, ref: payload }))
        for (const each of forgeEachText(ref.ref, id)) {
          const forged = { ...ref, ref: each }
          await rejectsWithCode(codes, () => rejectedOrTheSame(subject, forged, mine))
        }
      }
      await target.assertIntact()
      await accepts(subject, ref)
    },
  },
]

/** A text that is no id may say what it likes: the ref then still means the same workspace. */
async function rejectedOrTheSame(
  subject: ProviderSubject,
  forged: unknown,
  mine: OpenedWorkspace,
): Promise<never> {
  await subject.resolveForged(forged, (opened) => isTheSame(opened.ws, mine.ws))
  throw new WorkspaceFailedError('ref-invalid', 'as good as rejected')
}

async function isTheSame(one: Workspace, other: Workspace): Promise<boolean> {
  if (one.id !== other.id || other.fs === undefined) return one.id === other.id
  const name = unguessable()
  await other.fs.writeFile(`/${name}`, name)
  const [seen] = await Promise.allSettled([one.fs?.readFile(`/${name}`)])
  return seen.status === 'fulfilled' && textOf(seen.value ?? new Uint8Array()) === name
}

import { HelixError } from '@helix-agents/core'
import { check, equal, rejectionOf, rejectsWithCode } from '../assert.ts'
import { type ProviderBehaviour } from './lifecycle.ts'
import { type ProviderSubject } from './provider-subject.ts'

/** Checks a wrong config the way an executor does: by `parseConfig`, else by an open. */
async function useConfig(subject: ProviderSubject, config: unknown): Promise<unknown> {
  const { provider } = subject
  if (provider.parseConfig !== undefined) return provider.parseConfig(config)
  return subject.openForged(config)
}

/** Clauses about the config of a provider. */
export const configBehaviours: readonly ProviderBehaviour[] = [
  {
    id: 'config/valid/is-accepted',
    run: async (subject) => {
      const { provider, harness } = subject
      if (provider.parseConfig === undefined) await subject.open()
      else provider.parseConfig(harness.config)
    },
  },
  {
    id: 'config/invalid/every-unknown-field-is-named',
    run: async (subject) => {
      const config = { ...subject.harness.config, misspelt: 1, unheardOf: true }
      const error = await rejectionOf(() => useConfig(subject, config))
      check(HelixError.isInstance(error), 'a HelixError')
      equal(error.code, 'config-invalid')
      const named = ['misspelt', 'unheardOf'].filter((it) => error.message.includes(it))
      equal(named, ['misspelt', 'unheardOf'])
    },
  },
  {
    id: 'config/invalid/another-kind-or-no-object',
    run: async (subject) => {
      for (const config of [{ kind: 'another' }, {}, null, 'in-memory', 7, []]) {
        await rejectsWithCode('config-invalid', () => useConfig(subject, config))
      }
    },
  },
]

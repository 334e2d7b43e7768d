import { codeBehaviours } from '@helix-agents/workspace-conformance'
import { createCodeReference } from './reference/code.ts'
import { codeSaboteurs } from './saboteurs/code.ts'
import { verifySuite } from './verify-suite.ts'

verifySuite('code', codeBehaviours, {
  create: async () => createCodeReference(true),
  saboteurs: codeSaboteurs,
})

const stateless = codeBehaviours.filter((behaviour) => behaviour.needs === undefined)

verifySuite('code without contexts', stateless, {
  create: async () => createCodeReference(false),
  saboteurs: {
    ...Object.fromEntries(stateless.map(({ id }) => [id, codeSaboteurs[id]!])),
    'code/run/runs-share-no-variables': (good) => {
      const stateful = createCodeReference(true)
      const only = stateful.createContext!('javascript')
      return { ...good, runCode: async (_, code) => stateful.runInContext!(await only, code) }
    },
    'code/context/methods-follow-is-stateful': (good) => ({ ...good, isStateful: true }),
  },
})

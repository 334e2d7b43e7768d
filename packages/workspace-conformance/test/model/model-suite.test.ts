import { modelBehaviours } from '@helix-agents/workspace-conformance/model'
import { verifySuite } from '../verify-suite.ts'
import { modelSaboteurs } from './model-saboteurs.ts'
import { createReferenceModel } from './reference-model.ts'

verifySuite('model', modelBehaviours, {
  create: async () => createReferenceModel(),
  saboteurs: modelSaboteurs,
})

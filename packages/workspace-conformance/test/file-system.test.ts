import { fileSystemBehaviours } from '@helix-agents/workspace-conformance'
import { createReference } from './reference/file-system.ts'
import {
  concurrencySaboteurs,
  listingSaboteurs,
  pathSaboteurs,
} from './saboteurs/directories-and-paths.ts'
import { readingSaboteurs, writingSaboteurs } from './saboteurs/reading-and-writing.ts'
import { globSaboteurs, grepSaboteurs } from './saboteurs/searching.ts'
import { streamSaboteurs, transferSaboteurs } from './saboteurs/transfers-and-streams.ts'
import { verifySuite } from './verify-suite.ts'

verifySuite('file system', fileSystemBehaviours, {
  create: async () => createReference(),
  saboteurs: {
    ...readingSaboteurs,
    ...writingSaboteurs,
    ...listingSaboteurs,
    ...transferSaboteurs,
    ...streamSaboteurs,
    ...globSaboteurs,
    ...grepSaboteurs,
    ...pathSaboteurs,
    ...concurrencySaboteurs,
  },
})

import { getBranchSeed } from './branch-seed.ts'
import type { Endpoint, RareAction } from './endpoints.ts'
import { getCheckpoints, getDiff, getFiles, postRestore } from './history-endpoints.ts'
import { getRequest, getRequests, postAnswer } from './request-endpoints.ts'

export const rareEndpoints: Readonly<Record<RareAction, Endpoint>> = {
  restore: postRestore,
  branch: getBranchSeed,
  checkpoints: getCheckpoints,
  diff: getDiff,
  files: getFiles,
  requests: getRequests,
  request: getRequest,
  respond: postAnswer,
}

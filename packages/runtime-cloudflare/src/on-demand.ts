// What an object that only runs agents does not load: one part, behind `door.ts`.
export { dropBranchFiles } from './http/branch-files.ts'
export { createFromSeed } from './http/branch-seed.ts'
export { rareEndpoints } from './http/rare-endpoints.ts'
export { removeSession } from './http/remove-session.ts'
export { branchWithFiles } from './route/branch-with-files.ts'
export { deleteSession } from './server/delete-session.ts'

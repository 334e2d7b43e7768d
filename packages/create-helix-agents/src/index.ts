export { CreateError, type CreateErrorCode } from './create-error.ts'
export { type CreatedProject, createProject, type CreateProjectOptions } from './create-project.ts'
export { interruptSignal } from './interrupt-signal.ts'
export { createExitCodes, type CreateHost, runCreate } from './run-create.ts'

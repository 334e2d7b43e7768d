/** Why no project was made. */
export type CreateErrorCode =
  | 'usage'
  | 'name-invalid'
  | 'template-unknown'
  | 'folder-not-empty'
  | 'packages-invalid'
  | 'write-failed'
  | 'install-failed'
  | 'interrupted'

/** A project could not be made; what had been written is removed. */
export class CreateError extends Error {
  override readonly name = 'CreateError'
  readonly code: CreateErrorCode

  constructor(code: CreateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The body of every error. */
export function errorBody(code: string, message: string): object {
  return { error: { code, message } }
}

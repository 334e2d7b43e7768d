/** Whether a value that a program without types gave has a method, and so may be what is wanted. */
export function hasMethod(value: unknown, name: string): boolean {
  return (
    typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
  )
}

/** Whether a value has fields that can be read; a list has. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether a value that a program without types gave has a method, and so may be what is wanted. */
export function hasMethod(value: unknown, name: string): boolean {
  return isObject(value) && typeof Reflect.get(value, name) === 'function'
}

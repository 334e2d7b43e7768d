/**
 * A name that exists on no machine, in no bucket and in no database. Whatever a behaviour forges,
 * removes or overwrites outside of a workspace bears one: a subject with the very mistake that
 * the behaviour looks for then reaches nothing but what the kit made.
 */
export function unguessable(): string {
  return `kit-${crypto.randomUUID()}`
}

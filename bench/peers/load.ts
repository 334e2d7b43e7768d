/** Imports from here, so that peers resolve in this folder and nowhere else. */
export function load(specifier: string): Promise<unknown> {
  return import(specifier)
}

/** Bytes of the files. */
export const SIZES = {
  small: 4096,
  source: 2048,
  fat: 200_000,
  large: 1_048_576,
  huge: 8_388_608,
} as const

/** Files of the tree, in 250 directories. */
export const TREE_FILES = 10_000
/** Files of 200 kB. */
export const LARGE_FILES = 200

export function treePath(index: number): string {
  return `/t/d${index % 250}/f${index}.${index % 3 === 0 ? 'md' : 'ts'}`
}

import { FileSystemError } from '@helix-agents/core'
import type { StoreContext } from '../store-context.ts'
import type { Growth, Usage } from './node.ts'
import type { WriteTarget } from './write-target.ts'

/**
 * Checks the new size of one file. Shrinking is always allowed: it is the way out.
 * @throws {FileSystemError} `too-large`.
 */
export function checkFileSize(
  context: StoreContext,
  path: string,
  sizes: { readonly before: number; readonly after: number },
): void {
  const limit = context.limits.maxFileBytes
  if (sizes.after <= limit || sizes.after <= sizes.before) return
  throw new FileSystemError('too-large', path, {
    detail: `${sizes.after} bytes, the limit is ${limit}`,
  })
}

/**
 * Checks that what is added still fits into the namespace.
 * @throws {FileSystemError} `storage-full`.
 */
export function checkQuota(context: StoreContext, target: WriteTarget, growth: Growth): void {
  const { maxBytes, maxFiles } = context.limits
  const bytes = target.usedBytes + growth.bytes
  if (growth.bytes > 0 && bytes > maxBytes) {
    throw full(target.path, `all files together would have ${bytes} bytes`, maxBytes)
  }
  const files = target.usedFiles + growth.files
  if (growth.files > 0 && files > maxFiles) {
    throw full(target.path, `there would be ${files} files and directories`, maxFiles)
  }
}

/** Whether a new size and a growth keep the limits; what breaks them is for the checks to say. */
export function fits(
  { limits }: StoreContext,
  used: Usage,
  change: {
    readonly sizes: { readonly before: number; readonly after: number }
    readonly growth: Growth
  },
): boolean {
  const { sizes, growth } = change
  if (sizes.after > sizes.before && sizes.after > limits.maxFileBytes) return false
  if (growth.bytes > 0 && used.usedBytes + growth.bytes > limits.maxBytes) return false
  return growth.files <= 0 || used.usedFiles + growth.files <= limits.maxFiles
}

function full(path: string, detail: string, limit: number): FileSystemError {
  return new FileSystemError('storage-full', path, { detail: `${detail}, the limit is ${limit}` })
}

import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { FileSystemConfig } from '../config.ts'
import type { FileSystem } from '../contract.ts'

/** Makes a tool of the `fs` module. */
export const fsTool = toolsFor<FileSystem, FileSystemConfig>()

/** Annotations of tools that only look. */
export const READ_ONLY = { readOnly: true, destructive: false, idempotent: true } as const

/** Text that a file gets. Half of a surrogate pair cannot be stored, and damages what it stands in. */
export const wholeText = () =>
  z.string().refine((text) => text.isWellFormed(), 'holds half of a surrogate pair')

export const filePath = z.string().describe('Path in the workspace, such as /src/main.ts.')
export const directoryPath = z
  .string()
  .describe('Path of a directory in the workspace; / is the root.')

/** A place counted from 1. Models that count from 0 mean the first one, too. */
export const fromOne = z
  .int()
  .nonnegative()
  .transform((place) => Math.max(1, place))
export const firstEntry = fromOne
  .exactOptional()
  .describe('Number of the first result to return, from 1. Default 1.')

/** A description that mentions `requireReadBeforeWrite` only where the policy enforces it. */
export const readFirst =
  (description: string, sentence: string) =>
  (config: FileSystemConfig): string =>
    config.requireReadBeforeWrite ? `${description} ${sentence}` : description

/** A description of a tool that changes lines of a file. */
export const linesReadFirst = (description: string): ((config: FileSystemConfig) => string) =>
  readFirst(description, 'The lines to change must have been read with read_file before.')

import type { Message } from '@helix-agents/core'
import type { JournalEntry, JournalResult } from '@helix-agents/core/runtime'
import * as z from 'zod'
import type { SqlRow } from '../../sql-database.ts'
import { damaged, jsonColumn, optionalColumn } from './column.ts'
import { fromStorableMessage, toStorableMessage } from './message-json.ts'

const entrySchema = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  // JSON has no `undefined`: a call without arguments has no such key.
  arguments: z.unknown().optional(),
  startedAt: z.number(),
  asks: z.literal(true).optional(),
})

const resultSchema = z.object({
  message: z.unknown(),
  finish: z.object({ output: z.json().optional() }).optional(),
  endedAt: z.number(),
})

/** A call that has not ended yet, as JSON. */
export function toEntryJson(entry: JournalEntry): string {
  const { result: _, ...call } = entry
  return JSON.stringify(call)
}

export function toResultJson(result: JournalResult): string {
  return JSON.stringify({ ...result, message: toStorableMessage(result.message) })
}

/** @throws {SqlError} `corrupt` */
export function toJournalEntry(row: SqlRow): JournalEntry {
  const entry = jsonColumn(row, 'entry')
  if (!isEntry(entry)) throw damaged('entry')
  const result = optionalColumn(row, 'result', readResult)
  return { ...entry, arguments: entry.arguments, ...(result !== undefined && { result }) }
}

function readResult(row: SqlRow, name: string): JournalResult {
  const stored = jsonColumn(row, name)
  if (!isResult(stored)) throw damaged(name)
  const message = fromStorableMessage(stored.message)
  if (!isToolMessage(message)) throw damaged(name)
  const { finish } = stored
  return { ...stored, message, ...(finish && { finish: { output: finish.output } }) }
}

function isEntry(value: unknown): value is JournalEntry {
  return entrySchema.safeParse(value).success
}

type StoredResult = Omit<JournalResult, 'message'> & { readonly message: unknown }

function isResult(value: unknown): value is StoredResult {
  return resultSchema.safeParse(value).success
}

function isToolMessage(message: Message | undefined): message is JournalResult['message'] {
  return message?.role === 'tool'
}

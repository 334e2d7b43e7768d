import { encodeBase64, quoteWord } from '@helix-agents/core/provider'
import { DriverError } from '../driver-error.ts'
import type { AppendOptions, DriverEntry, WriteOptions } from '../port.ts'
import { readEntry } from '../script/file-reply.ts'
import { TEMPORARY_PREFIX } from '../script/file-prelude.ts'
import type { ScriptReply } from '../script/reply.ts'
import { appendScript, type ContentSource, writeScript } from '../script/write-script.ts'
import type { FileLink } from './container-link.ts'
import { LARGE_BYTES } from './large-files.ts'
import type { ScriptCall } from './script-runner.ts'
import { watchStream } from './streams.ts'

/** A word of a command line may have 128 KiB; the script around the content has its share. */
const WORD_BYTES = 90 * 1024
const WRITE_DEADLINE_MS = 120_000
interface Content<T> {
  readonly path: string
  readonly data: T
}

/**
 * Writes a file. Small contents go inside the script. Larger ones go to a file of their own
 * while the script already waits for them: both calls are on their way at the same time. From
 * 1 MiB on the content goes first.
 */
export async function writeBytes(
  link: FileLink,
  { path, data }: Content<Uint8Array>,
  options: WriteOptions,
): Promise<DriverEntry> {
  const script = (source: ContentSource): string => writeScript(path, source, options)
  const reply = await send(link, { data, script }, callOf(options.signal))
  return readEntry(reply, path)
}

/** Adds to a file, in the same ways. */
export async function appendBytes(
  link: FileLink,
  { path, data }: Content<Uint8Array>,
  { maxBytes, signal }: AppendOptions,
): Promise<DriverEntry> {
  const limits = { addedBytes: data.length, ...(maxBytes !== undefined && { maxBytes }) }
  const script = (source: ContentSource): string => appendScript(path, source, limits)
  return readEntry(await send(link, { data, script }, callOf(signal)), path)
}

/** Writes a stream of unknown length: first whole into a file of its own, then a rename. */
export async function writeStream(
  link: FileLink,
  { path, data }: Content<ReadableStream<Uint8Array>>,
  options: WriteOptions,
): Promise<DriverEntry> {
  const staged = stagePath(link, link.createNonce())
  const call = callOf(options.signal)
  const watched = watchStream(data)
  try {
    await link.runner.store(staged, watched.stream, call)
    watched.throwIfFailed()
    // What else wrote to it, or took it away, must not pass for the content.
    const sizeBytes = watched.passedBytes()
    const source = { from: 'staged', path: staged, sizeBytes, isFilled: true } as const
    const script = writeScript(path, source, options)
    return readEntry(await link.ask(script, call), path)
  } catch (error) {
    await sweep(link, staged)
    watched.throwIfFailed()
    throw error
  }
}

interface Sending {
  readonly data: Uint8Array
  readonly script: (source: ContentSource) => string
}

async function send(
  link: FileLink,
  { data, script }: Sending,
  call: ScriptCall,
): Promise<ScriptReply> {
  const inline = data.length > WORD_BYTES ? undefined : inlineSource(data)
  if (inline !== undefined) return link.ask(script(inline), call)
  const nonce = link.createNonce()
  const path = stagePath(link, nonce)
  if (data.length >= LARGE_BYTES) return sendFirst(link, { data, script, path }, call)
  const source = { from: 'staged', path, sizeBytes: data.length } as const
  const [stored, asked] = await Promise.allSettled([
    link.runner.store(path, data, call).catch(giveUp(link, nonce)),
    link.ask(script(source), { ...call, nonce }),
  ])
  if (asked.status === 'fulfilled') return asked.value
  await sweep(link, path)
  if (stored.status === 'rejected' && isVague(asked.reason)) throw stored.reason
  throw asked.reason
}

/** What takes long on its way is not waited for by a script, which would slow it down. */
async function sendFirst(
  link: FileLink,
  { data, script, path }: Sending & { readonly path: string },
  call: ScriptCall,
): Promise<ScriptReply> {
  const source = { from: 'staged', path, sizeBytes: data.length, isFilled: true } as const
  const [stored] = await Promise.allSettled([link.runner.store(path, data, call)])
  try {
    // What the container rejected, the script can explain.
    if (stored.status === 'rejected' && !isAnswer(stored.reason)) throw stored.reason
    return await link.ask(script(source), call)
  } catch (error) {
    await sweep(link, path)
    if (stored.status === 'rejected' && isVague(error)) throw stored.reason
    throw error
  }
}

/** Signals the waiting script that the content will not come. */
function giveUp(link: FileLink, nonce: string): (error: unknown) => Promise<never> {
  return async (error) => {
    await runQuietly(link, `: >${quoteWord(`${link.settings.scratch}/gone-${nonce}`)}`)
    throw error
  }
}

/** The content may have come when no script waited for it any more. */
function sweep(link: FileLink, path: string): Promise<void> {
  return runQuietly(link, `rm -f -- ${quoteWord(path)}*`)
}

/** For what helps but decides nothing: the error that led here is the one to report. */
async function runQuietly({ runner }: FileLink, script: string): Promise<void> {
  await Promise.allSettled([runner.run(script, { deadlineMs: 10_000, isRepeatable: true })])
}

function isVague(error: unknown): boolean {
  return !(error instanceof DriverError) || error.code === 'failed'
}

function isAnswer(error: unknown): boolean {
  return (
    error instanceof DriverError && (error.admitted === 'yes' || error.code === 'directory-missing')
  )
}

// oxlint-disable-next-line no-control-regex
const PLAIN = /^[\x01-\x7F]*$/

function inlineSource(data: Uint8Array): ContentSource | undefined {
  const text = new TextDecoder('latin1').decode(data)
  const quotes = text.split("'").length - 1
  if (PLAIN.test(text) && text.length + 3 * quotes <= WORD_BYTES) return { from: 'text', text }
  const encoded = encodeBase64(data)
  return encoded.length <= WORD_BYTES ? { from: 'base64', text: encoded } : undefined
}

/**
 * Files on their way in wait in the workspace itself, so that the last step is a rename. Listings
 * leave them out, and no directory stays behind.
 */
function stagePath({ settings }: FileLink, nonce: string): string {
  return `${settings.root}/${TEMPORARY_PREFIX}${nonce}.staged`
}

function callOf(signal: AbortSignal | undefined): ScriptCall {
  return {
    deadlineMs: WRITE_DEADLINE_MS,
    isRepeatable: false,
    ...(signal !== undefined && { signal }),
  }
}

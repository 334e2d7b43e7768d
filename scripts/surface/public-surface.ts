// What a user can name from outside: options, error codes, log texts, metrics, routes, flags.
import { logMessages } from '../../packages/core/src/logging/log-messages.ts'
import { METRICS } from '../../packages/telemetry/src/metrics/definitions.ts'
import { exportsOf } from '../docs/declarations.ts'
import { errorCodes } from '../docs/tables/error-tables.ts'
import { membersOf } from '../docs/members.ts'
import { find, packageFolders, read, readManifest, sourceOfTarget } from '../repository.ts'

export type SurfaceKind = 'option' | 'error code' | 'log text' | 'metric' | 'route' | 'flag'

export interface SurfaceName {
  readonly kind: SurfaceKind
  /** As a test would write it. */
  readonly name: string
  /** Folder of the package that offers it. */
  readonly folder: string
  /** The interface of an option, the class of a code. */
  readonly owner: string
}

/** Every name of the public surface, derived from the sources. */
export function publicSurface(): SurfaceName[] {
  return [
    ...packageFolders().flatMap(optionsOf),
    ...errorCodes().map(({ code, className }) => inCore('error code', code, className)),
    ...Object.entries(logMessages).map(([key, text]) => inCore('log text', text, key)),
    ...Object.entries(METRICS).map(([key, { name }]) => named('metric', name, 'telemetry', key)),
    ...routes(),
    ...flags(),
  ]
}

/** Interfaces that are written by a caller, and not read by one. */
const GIVEN = /(?:Options|Config|Policy|Settings|Limits)$/

function optionsOf(folder: string): SurfaceName[] {
  const declarations = entryPoints(folder).flatMap((file) => exportsOf(file).declarations)
  const unique = new Map(declarations.map((each) => [each.name, each]))
  return [...unique.values()]
    .filter((each) => each.kind === 'interface')
    .filter(({ name }) => GIVEN.test(name))
    .flatMap((owner) =>
      membersOf(owner).map((member) =>
        named('option', member.name.replace(/\W.*$/, ''), folder, owner.name),
      ),
    )
    .filter(({ name }) => name !== '')
}

/** The sources behind the entry points of a package. */
function entryPoints(folder: string): string[] {
  return Object.values(readManifest(`packages/${folder}`).exports ?? {}).flatMap((target) => {
    const source = sourceOfTarget(target)
    return source?.endsWith('.ts') ? [`packages/${folder}/${source.slice('./'.length)}`] : []
  })
}

/** Paths of the fleet's API and of an agent in a Durable Object. */
function routes(): SurfaceName[] {
  const declared = [
    ['sandbox-fleet', 'packages/sandbox-fleet/src/http/**/*.ts', /\bpath: '(?<name>\/[^']+)'/g],
    [
      'runtime-cloudflare',
      'packages/runtime-cloudflare/src/**/*.ts',
      /^ {2}\['(?<name>\/[^']+)',/gm,
    ],
  ] as const
  return declared.flatMap(([folder, files, pattern]) =>
    namesIn(files, pattern).map((name) => named('route', name, folder, 'HTTP')),
  )
}

function flags(): SurfaceName[] {
  const names = namesIn('packages/cli/src/**/*.ts', /'(?<name>--[a-z][a-z-]*)/g)
  return names.map((name) => named('flag', name, 'cli', 'helix'))
}

function namesIn(files: string, pattern: RegExp): string[] {
  const found = find(files).flatMap((file) => [...read(file).matchAll(pattern)])
  return [...new Set(found.map(({ groups }) => groups?.name ?? ''))]
}

function inCore(kind: SurfaceKind, name: string, owner: string): SurfaceName {
  return named(kind, name, 'core', owner)
}

function named(kind: SurfaceKind, name: string, folder: string, owner: string): SurfaceName {
  return { kind, name, folder, owner }
}

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'

type Called =
  | 'lstatSync'
  | 'opendirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readSync'
  | 'rmdirSync'
  | 'unlinkSync'

/** For the rest of a test, something happens before each call of a function of `node:fs`. */
export function beforeFsCall(name: Called, before: (first: unknown) => void): void {
  const real = fs[name]
  const replace = (by: unknown): void => {
    Reflect.set(fs, name, by)
    syncBuiltinESMExports()
  }
  onTestFinished(() => replace(real))
  replace((...args: unknown[]) => {
    before(args[0])
    return Reflect.apply(real, fs, args)
  })
}

import { constants } from 'node:fs'

const isLinux = process.platform === 'linux'

/** Whether an open descriptor can be used as a directory and says where it leads. */
export const canPin = isLinux

/** Not among Node's constants: a handle on a place, without opening what is there. */
const O_PATH = isLinux ? 0o10000000 : 0

/** A directory as an anchor. Its last name may be a link: the caller checks where it leads. */
export const ANCHOR = O_PATH | constants.O_DIRECTORY

/** The same, refusing a link as last name. */
export const ANCHOR_NO_LINK = ANCHOR | constants.O_NOFOLLOW

/** A handle on whatever is there, without opening it. A link as last name is rejected. */
export const HANDLE = O_PATH | constants.O_NOFOLLOW

/** Reading what a handle is on. */
export const READ_HANDLE = constants.O_RDONLY | constants.O_NONBLOCK

/** Reading. A link as last name is rejected, and a pipe does not block. */
export const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Appending to an existing file. */
export const APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A new file; fails when the name exists. */
export const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

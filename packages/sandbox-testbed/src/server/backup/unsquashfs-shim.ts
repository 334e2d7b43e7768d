/**
 * What stands in for `/usr/bin/unsquashfs`, which the SDK runs to restore a backup: a POSIX shell
 * program that takes the arguments of `unsquashfs -f -d DIR FILE` and unpacks what this server
 * packs. Like the real one it merges: what the archive does not hold stays.
 */
export const UNSQUASHFS_SHIM = String.raw`#!/bin/sh
directory=squashfs-root
archive=
while [ "$#" -gt 0 ]; do
  case "$1" in
    -f | -force) ;;
    -d | -dest) directory=$2; shift ;;
    -*) printf 'unsquashfs: unsupported option %s\n' "$1" >&2; exit 1 ;;
    *) archive=$1 ;;
  esac
  shift
done
if [ ! -f "$archive" ] || [ "$(head -c 4 -- "$archive")" != hsqs ]; then
  printf 'unsquashfs: cannot open %s\n' "$archive" >&2
  exit 1
fi
mkdir -p -- "$directory" && tail -c +97 -- "$archive" | tar --extract --gzip --file=- --directory="$directory"
`

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes in its largest fitting unit, as `3.4 MiB` or `512 B`. */
export function toSizeText(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit += 1
  }
  const digits = unit > 0 && size < 10 ? 1 : 0
  return `${size.toFixed(digits)} ${UNITS[unit] ?? ''}`
}

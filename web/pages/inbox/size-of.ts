/** A number of bytes for people: `12 bytes`, `3.4 kB`, `1.2 MB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const steps = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** steps).toFixed(1)} ${UNITS[steps - 1] ?? ''}`;
}

const UNITS = ['kB', 'MB', 'GB'] as const;

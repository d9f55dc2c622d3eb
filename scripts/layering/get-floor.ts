/** Returns the floor that a file belongs to: `events` for `src/events/index.ts`, an empty string for `src/index.ts`. */
export function getFloor(file: string): string {
  const parts = file.split('/');
  if (parts[0] === 'web') return 'web';
  return parts.length > 2 ? (parts[1] ?? '') : '';
}

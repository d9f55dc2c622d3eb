import { ROOMS } from './rooms.js';

/**
 * Returns the room or door that a file belongs to, by the longest folder that `ROOMS` lists: `json/schema` for
 * `src/json/schema/align/align.ts`. For a folder that is not listed, its name; an empty string for `src/index.ts`.
 */
export function getRoom(file: string): string {
  const parts = file.split('/');
  if (parts[0] === 'web') return 'web';
  const subfolder = parts.slice(1, 3).join('/');
  if (parts.length > 3 && ROOMS[subfolder] !== undefined) return subfolder;
  return parts.length > 2 ? (parts[1] ?? '') : '';
}

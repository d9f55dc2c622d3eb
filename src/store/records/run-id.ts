/** Matches a role, which becomes part of run ids and file names. */
export const ROLE_PATTERN = '^[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*$';
export const ROLE_LENGTH = 40;

/** Matches a run id, in JSON Schema. {@link parseRunId} also checks the date. */
export const RUN_ID_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}-[A-Za-z][A-Za-z0-9_-]*-[0-9]{4,15}$';
export const RUN_ID_LENGTH = 80;

/**
 * Formats the id of an issue's nth run: the UTC date, the role, the number.
 *
 * @example
 * formatRunId(Date.UTC(2026, 10, 15), 'backend', 3) // '2026-11-15-backend-0003'
 */
export function formatRunId(now: number, role: string, number: number): string {
  return `${new Date(now).toISOString().slice(0, 10)}-${role}-${String(number).padStart(4, '0')}`;
}

const pattern = /^(\d{4}-\d{2}-\d{2})-(.+)-(\d{4,15})$/;
const role = new RegExp(ROLE_PATTERN);

/**
 * Splits a run id into its parts, the date in UTC; undefined if it is not a run id. The number comes last, so a role can contain
 * hyphens.
 *
 * @example
 * parseRunId('2026-11-15-backend-0003') // { date: '2026-11-15', role: 'backend', number: 3 }
 */
export function parseRunId(text: string): { date: string; role: string; number: number } | undefined {
  const match = text.length > RUN_ID_LENGTH ? null : pattern.exec(text);
  const [, date = '', name = '', digits = ''] = match ?? [];
  if (match === null || name.length > ROLE_LENGTH || !role.test(name) || !isDay(date)) return undefined;
  const number = Number(digits);
  const isCanonical = number > 0 && String(number).padStart(4, '0') === digits;
  return isCanonical ? { date, role: name, number } : undefined;
}

function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

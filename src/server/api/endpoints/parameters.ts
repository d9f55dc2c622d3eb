/** A point in time. */
export const timeParameter = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?Z)?$',
  description: 'A date, or a time in UTC: 2026-11-15 or 2026-11-15T08:00:00Z.',
} as const;

/** Words to search for. */
export const search = { type: 'string', minLength: 1, maxLength: 200 } as const;

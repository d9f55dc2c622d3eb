import { SluiceError } from '../../../base/index.js';

/** Returns whether a schedule is due in the minute that contains `time`, in milliseconds since 1970, UTC. */
export type CronMatch = (time: number) => boolean;

const FIELDS = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of the month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12 },
  { name: 'day of the week', first: 0, last: 7 },
] as const;

/**
 * Parses a cron expression with five fields: numbers, `*`, ranges (`1-5`), steps (every 15: `0-59/15`) and lists of
 * them. Times are UTC, so no hour is skipped or repeated. As usual in cron, if both day fields are restricted, either
 * match is enough.
 *
 * @example
 * const isDue = parseCron('0 3 * * 1-5')
 * isDue(Date.parse('2026-11-16T03:00:00Z')) // true, a Monday
 */
export function parseCron(expression: string): CronMatch {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    throw createCronError(expression, 'it must have five fields: minute hour day month weekday');
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) =>
    readField(fields[index] ?? '', field, expression),
  ) as [Field, Field, Field, Field, Field];
  return (time) => {
    const date = new Date(time);
    if (!minutes.has(date.getUTCMinutes()) || !hours.has(date.getUTCHours())) return false;
    if (!months.has(date.getUTCMonth() + 1)) return false;
    const isDay = days.has(date.getUTCDate());
    const isWeekday = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7));
    if (days.isAny || weekdays.isAny) return isDay && isWeekday;
    return isDay || isWeekday;
  };
}

interface Field {
  readonly isAny: boolean;
  has(value: number): boolean;
}

const PART = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

function readField(field: string, { name, first, last }: (typeof FIELDS)[number], expression: string): Field {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const match = PART.exec(part);
    if (match === null) throw createCronError(expression, `the ${name} "${part}" is invalid`);
    const [, from, to, step] = match;
    const start = from === undefined ? first : Number(from);
    // `5/15` means the same as `5-59/15`.
    const end = to === undefined ? (from === undefined || step !== undefined ? last : start) : Number(to);
    const width = step === undefined ? 1 : Number(step);
    if (start < first || end > last)
      throw createCronError(expression, `the ${name} "${part}" is not between ${first} and ${last}`);
    if (start > end) throw createCronError(expression, `the range "${part}" of the ${name} ends before it starts`);
    if (width < 1) throw createCronError(expression, `the step of the ${name} "${part}" must be at least 1`);
    for (let value = start; value <= end; value += width) values.add(value);
  }
  return { isAny: field.startsWith('*'), has: (value) => values.has(value) };
}

function createCronError(expression: string, why: string): SluiceError {
  return new SluiceError(
    'INVALID_SCHEDULE',
    `Invalid cron expression "${expression.slice(0, 100)}": ${why}. Correct the setting "schedules".`,
  );
}

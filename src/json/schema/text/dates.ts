import { isCalendarDay } from '../formats.js';
import { foldCase } from './spelling.js';

const MONTH = String.raw`(\p{L}{3,12})\.?`;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const WEEKDAY = /^(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs?|ur)?(?:day)?\.?,?\s+/;

const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const CHINESE = /^(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日$/;
const YEAR_LAST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/;
const MONTH_FIRST = new RegExp(String.raw`^${MONTH}\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$`, 'u');
const DAY_FIRST = new RegExp(
  String.raw`^(\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-]\s?(?:(?:of|de)\s+)?${MONTH},?[\s-](?:de\s+)?(\d{4})$`,
  'u',
);
const TIME =
  /^(.*\d)(?:t|,?\s+(?:at\s+)?)(\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?\s*(am|pm)?\s*(z|utc|gmt|[+-]\d{2}:?\d{2})$/;
const ISO_TIME_AFTER = /^(\d{4}-\d{2}-\d{2})[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?$/;

/** A date in a sentence. */
export const DATE_PHRASE =
  /\d{4}\s*年\s*\d{1,2}\s*月\s*\d{1,2}\s*日|\b\d{1,4}([/.-])\d{1,2}\1\d{1,4}\b|\p{L}{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}(?:st|nd|rd|th|er|\.|º)? (?:(?:of|de) )?\p{L}{3,12}\.?,? (?:de )?\d{4}/giu;

/**
 * Reads a date in another notation as an ISO date. Refused: two-digit years, day and month in an ambiguous order
 * (`03/04/2024`), and a weekday that the date does not fall on.
 */
export function readDate(text: string): string | undefined {
  if (text.length > 60) return undefined;
  const folded = foldCase(text).trim();
  const parts = readParts((ISO_TIME_AFTER.exec(folded)?.[1] ?? folded).replace(WEEKDAY, ''));
  if (parts === undefined) return undefined;
  const [year, month, day] = parts;
  if (!isCalendarDay(year, month, day)) return undefined;
  const weekday = WEEKDAY.exec(folded)?.[1];
  if (weekday !== undefined && WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()] !== weekday)
    return undefined;
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

/** Reads a date with a time and a zone; without a zone the time is ambiguous. */
export function readDateTime(text: string): string | undefined {
  if (text.length > 60) return undefined;
  const match = TIME.exec(foldCase(text).trim());
  if (match === null) return undefined;
  const [, dateText = '', hourText = '', minute = '', second = '00', fraction = '', amOrPm, zone = ''] = match;
  const date = readDate(dateText);
  const hour = toHour(Number(hourText), amOrPm);
  if (date === undefined || hour === undefined) return undefined;
  return `${date}T${pad(hour)}:${minute}:${second}${fraction}${toOffset(zone)}`;
}

function toHour(hour: number, amOrPm: string | undefined): number | undefined {
  if (amOrPm === undefined) return hour;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (amOrPm === 'pm' ? 12 : 0);
}

function toOffset(zone: string): string {
  if (!/^[+-]/.test(zone)) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}

function readParts(text: string): [year: number, month: number, day: number] | undefined {
  const compact = COMPACT.exec(text) ?? CHINESE.exec(text);
  if (compact !== null) return [Number(compact[1]), Number(compact[2]), Number(compact[3])];
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) return [Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4])];
  const yearLast = YEAR_LAST.exec(text);
  if (yearLast !== null) return orderDayAndMonth(Number(yearLast[4]), Number(yearLast[1]), Number(yearLast[3]));
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null) return [Number(monthFirst[3]), readMonth(monthFirst[1] ?? ''), Number(monthFirst[2])];
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null) return [Number(dayFirst[3]), readMonth(dayFirst[2] ?? ''), Number(dayFirst[1])];
  return undefined;
}

function orderDayAndMonth(year: number, first: number, second: number): [number, number, number] | undefined {
  if (first === second) return [year, first, second];
  if (first > 12) return [year, second, first];
  return second > 12 ? [year, first, second] : undefined;
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

/** Month names in English, German, French, Spanish, Italian and Portuguese, without accents. */
const MONTH_NAMES = [
  'jan january januar janvier enero gennaio janeiro',
  'feb february februar fevrier febrero febbraio fevereiro',
  'mar march mrz marz maerz mars marzo marco',
  'apr april avril abril aprile',
  'may mai mayo maggio maio',
  'jun june juni juin junio giugno junho',
  'jul july juli juillet julio luglio julho',
  'aug august aout agosto',
  'sep sept september septembre septiembre settembre setembro',
  'oct october okt oktober octobre octubre ottobre outubro',
  'nov november novembre noviembre novembro',
  'dec december dez dezember decembre diciembre dicembre dezembro',
];

const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);

/** Reads a month name; returns 0 for anything else. */
function readMonth(name: string): number {
  return MONTHS.get(name) ?? 0;
}

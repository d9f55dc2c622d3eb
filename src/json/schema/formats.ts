/** Maximum length that any format accepts. */
const MAX_LENGTH = 8192;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/;
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const NOT_IN_URI = /[\s<>"{}|\\^`\p{Cc}]|%(?![\da-f]{2})/iu;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;

/**
 * The formats that are checked; any other is ignored. They are common in prompts and can be checked without Unicode
 * tables; each check takes linear time.
 */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    date: isDate,
    time: isTime,
    'date-time': isDateTime,
    duration: (text: string) => DURATION.test(text),
    email: isEmail,
    hostname: isHostname,
    ipv4: isIpv4,
    ipv6: isIpv6,
    uri: (text: string) => SCHEME.test(text) && !NOT_IN_URI.test(text) && !text.endsWith(':'),
    'uri-reference': (text: string) => !NOT_IN_URI.test(text),
    uuid: (text: string) => UUID.test(text),
  }).map(([name, test]) => [name, (text: string) => text.length <= MAX_LENGTH && test(text)]),
);

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  return isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Whether a day exists in the Gregorian calendar. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (match === null) return false;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [offsetHour, offsetMinute] = [Number(match[5] ?? 0), Number(match[6] ?? 0)];
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second <= 59) return true;
  // A leap second ends a day in UTC, regardless of local time.
  const offset = (offsetHour * 60 + offsetMinute) * (match[4] === '-' ? -1 : 1);
  const utc = (((hour * 60 + minute - offset) % 1440) + 1440) % 1440;
  return second === 60 && utc === 1439;
}

function isDateTime(text: string): boolean {
  const separator = text[10];
  if (separator !== 'T' && separator !== 't' && separator !== ' ') return false;
  return isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64) return false;
  return LOCAL_PART.test(text.slice(0, at)) && isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  const endsWithIpv4 = last !== undefined && last.includes('.') && !text.endsWith('::');
  if (endsWithIpv4 && !isIpv4(last)) return false;
  const plain = endsWithIpv4 ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[\da-f]{1,4}$/i.test(group))) return false;
  const count = plain.length + (endsWithIpv4 ? 2 : 0);
  return halves.length === 2 ? count <= 7 : count === 8;
}

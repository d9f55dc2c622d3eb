/** The maximum size of an event's detail as JSON. */
const MAX_DETAIL_BYTES = 4 * 1024;

const ELLIPSIS = '…';

const encoder = new TextEncoder();

/**
 * Shortens a value until its JSON has at most `maxBytes`, 4 KiB by default. A string that does not fit is truncated, ending in `…`. Arrays and
 * objects keep their first members; a member `…` has the number of omitted members.
 */
export function boundDetail(value: unknown, maxBytes = MAX_DETAIL_BYTES): unknown {
  return measureJson(value, maxBytes) <= maxBytes ? value : fit(value, maxBytes);
}

function fit(value: unknown, budget: number): unknown {
  if (typeof value === 'string') return fitText(value, budget);
  if (typeof value !== 'object' || value === null) return value;
  // Space for the brackets, and for the member that counts the omitted ones.
  let remaining = budget - 24;
  const members: [string, unknown][] = Object.entries(value);
  const entries: [string, unknown][] = [];
  for (const [key, member] of members) {
    const overhead = Array.isArray(value) ? 1 : measure(JSON.stringify(key)) + 2;
    const space = remaining - overhead;
    if (space < 16) break;
    const size = measureJson(member, space);
    const fitted: unknown = size <= space ? member : fit(member, space);
    entries.push([key, fitted]);
    remaining -= overhead + (size <= space ? size : measure(JSON.stringify(fitted)));
  }
  const omittedCount = members.length - entries.length;
  if (Array.isArray(value))
    return [...entries.map(([, member]) => member), ...(omittedCount === 0 ? [] : [`${ELLIPSIS} ${omittedCount}`])];
  return Object.fromEntries(omittedCount === 0 ? entries : [...entries, [ELLIPSIS, omittedCount]]);
}

/** Returns as much of a string as fits after JSON escaping. */
function fitText(text: string, budget: number): string {
  let length = Math.min(text.length, budget);
  for (;;) {
    const last = text.charCodeAt(length - 1);
    // Half of a surrogate pair is not valid text.
    const end = last >= 0xd8_00 && last <= 0xdb_ff ? length - 1 : length;
    const shortened = `${text.slice(0, end)}${ELLIPSIS}`;
    const excess = measure(JSON.stringify(shortened)) - budget;
    if (excess <= 0 || length === 0) return shortened;
    length = Math.max(0, length - Math.max(1, Math.ceil(excess / 6)));
  }
}

/** Returns a value's size as JSON, or infinity above the limit, where it stops: nested levels are measured again. */
function measureJson(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length > limit ? Infinity : measure(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return (JSON.stringify(value) ?? 'null').length;
  const isArray = Array.isArray(value);
  let size = 2;
  let separator = 0;
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined && !isArray) continue;
    size += separator + (isArray ? 0 : measureJson(key, limit) + 1);
    separator = 1;
    size += measureJson(member, limit - size);
    if (size > limit) return Infinity;
  }
  return size;
}

function measure(text: string): number {
  return encoder.encode(text).length;
}

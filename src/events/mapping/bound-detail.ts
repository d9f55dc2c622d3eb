/** Bytes of JSON that the detail of an event may have. */
const MAX_DETAIL_BYTES = 4 * 1024;

/** A value that leaves out what does not fit. */
const CUT = '…';

const encoder = new TextEncoder();

/**
 * A value whose JSON has at most 4 KiB: the beginning of what was given. A text that does not fit is cut, with `…` at its
 * end; of lists and objects the first members are kept, and a member `…` says how many were left out.
 *
 * @example
 * boundDetail({ model: 'm' }) // { model: 'm' }
 */
export function boundDetail(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text === undefined || text.length * 3 <= MAX_DETAIL_BYTES || measure(text) <= MAX_DETAIL_BYTES) return value;
  return fit(value, MAX_DETAIL_BYTES);
}

function fit(value: unknown, budget: number): unknown {
  if (typeof value === 'string') return fitText(value, budget);
  if (typeof value !== 'object' || value === null) return value;
  // Room for the brackets, and for the member that says how much is missing.
  let left = budget - 24;
  const members: [string, unknown][] = Object.entries(value);
  const kept: [string, unknown][] = [];
  for (const [key, member] of members) {
    const overhead = Array.isArray(value) ? 1 : measure(JSON.stringify(key)) + 2;
    const room = left - overhead;
    if (room < 16) break;
    const size = measure(JSON.stringify(member) ?? 'null');
    const fitted: unknown = size <= room ? member : fit(member, room);
    kept.push([key, fitted]);
    left -= overhead + Math.min(size, measure(JSON.stringify(fitted) ?? 'null'));
  }
  const missing = members.length - kept.length;
  if (Array.isArray(value))
    return [...kept.map(([, member]) => member), ...(missing === 0 ? [] : [`${CUT} ${missing}`])];
  return Object.fromEntries(missing === 0 ? kept : [...kept, [CUT, missing]]);
}

/** As much of a text as fits, however its characters are written in JSON. */
function fitText(text: string, budget: number): string {
  let length = Math.min(text.length, budget);
  for (;;) {
    const last = text.charCodeAt(length - 1);
    // Half of a surrogate pair is not valid text.
    const end = last >= 0xd8_00 && last <= 0xdb_ff ? length - 1 : length;
    const cut = `${text.slice(0, end)}${CUT}`;
    const excess = measure(JSON.stringify(cut)) - budget;
    if (excess <= 0 || length === 0) return cut;
    length = Math.max(0, length - Math.max(1, Math.ceil(excess / 6)));
  }
}

function measure(text: string): number {
  return encoder.encode(text).length;
}

import type { Emitted } from '../protocol/translator-output.js';

/**
 * Renders events as text for review, with every field and value. A RASP event starts a block: its number, byte range,
 * type and data. Its FCMP event follows after an arrow. Fields repeated from the previous event are omitted; everything
 * else is included, so two different lists of events have different transcripts.
 *
 * @example
 * renderTranscript(emitted)
 * // #2 stdout 0–77 lifecycle.run.status
 * //     data.status: "thread.started"
 * //     → #1 conversation.started
 * //         data.session_id: "t-1"
 */
export function renderTranscript(emitted: readonly Emitted[]): string {
  const lines: string[] = [];
  let rasp: Fields = {};
  let fcmp: Fields = {};
  for (const item of emitted) {
    const { event } = item;
    const fields = toFields(event);
    const { seq } = event;
    if (item.protocol === 'rasp') {
      const { stream, byte_from: from, byte_to: to } = item.event.raw_ref ?? {};
      const bytes = stream === undefined ? '' : ` ${stream} ${from}–${to}`;
      lines.push(`#${item.event.seq}${bytes} ${item.event.event.type}`);
      const isHeadComplete =
        item.event.raw_ref === null || isShownInHead(item.event.raw_ref, item.event.attempt_number);
      const category = item.event.event.type.split('.')[0];
      const expected = { ...pickRepeated(rasp), seq, 'event.category': category, 'event.type': item.event.event.type };
      lines.push(...renderDifference(expected, isHeadComplete ? dropRawRef(fields) : fields, '    '));
      rasp = fields;
    } else {
      lines.push(`    → #${item.event.seq} ${item.event.type}`);
      const expected = {
        ...pickRepeated(fcmp),
        seq,
        type: item.event.type,
        ts: rasp['ts'],
        ...pick(rasp, ['data.', 'correlation.', 'raw_ref']),
      };
      lines.push(...renderDifference(expected, fields, '        '));
      fcmp = fields;
    }
  }
  return `${lines.join('\n')}\n`;
}

/** An event as paths and JSON values; small objects and arrays are not split. */
type Fields = Readonly<Record<string, unknown>>;

/** The maximum length of a value on a line; longer values are shown member by member. */
const MAX_VALUE = 100;

function toFields(event: object): Fields {
  const fields: Record<string, unknown> = {};
  const open: [path: string, value: unknown][] = Object.entries(event).toReversed();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next;
    const isEnvelope = ['source', 'event', 'data', 'correlation', 'raw_ref', 'meta'].includes(path);
    const isExpanded =
      typeof value === 'object' && value !== null && (isEnvelope || JSON.stringify(value).length > MAX_VALUE);
    if (path === 'correlation' && JSON.stringify(value) === '{}') continue;
    if (!isExpanded || Object.keys(value).length === 0) fields[path] = value;
    else for (const [key, member] of Object.entries(value).toReversed()) open.push([`${path}.${key}`, member]);
  }
  return fields;
}

/** Returns the fields that every event of a protocol repeats. */
function pickRepeated(previous: Fields): Fields {
  return pick(previous, [
    'protocol_version',
    'run_id',
    'attempt_number',
    'ts',
    'source.',
    'correlation.session_id',
    'engine',
    'meta.',
  ]);
}

function pick(fields: Fields, prefixes: readonly string[]): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([path]) => prefixes.some((prefix) => path.startsWith(prefix))),
  );
}

/** Whether the first line of a block already has everything about these bytes. */
function isShownInHead(
  rawRef: { readonly attempt_number: number; readonly encoding: string },
  attempt: number,
): boolean {
  return rawRef.encoding === 'utf-8' && rawRef.attempt_number === attempt;
}

function dropRawRef(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([path]) => !path.startsWith('raw_ref')));
}

function renderDifference(expected: Fields, fields: Fields, indent: string): string[] {
  const lines: string[] = [];
  for (const [path, value] of Object.entries(fields)) {
    if (!(path in expected) || JSON.stringify(expected[path]) !== JSON.stringify(value))
      lines.push(...renderField(path, value, indent));
  }
  for (const path of Object.keys(expected)) {
    if (expected[path] !== undefined && !(path in fields)) lines.push(`${indent}no ${path}`);
  }
  return lines;
}

/** Multi-line strings are shown line by line. */
function renderField(path: string, value: unknown, indent: string): string[] {
  if (typeof value !== 'string' || !value.includes('\n')) return [`${indent}${path}: ${JSON.stringify(value)}`];
  return [`${indent}${path}:`, ...value.split('\n').map((line) => `${indent}  | ${JSON.stringify(line).slice(1, -1)}`)];
}

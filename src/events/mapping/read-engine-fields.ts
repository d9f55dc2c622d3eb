import { cutText } from '../../base/index.js';
import {
  ENGINE_FIELDS,
  ENGINE_NAMES_BY_FIELD,
  type EngineFieldName,
  type EngineFields,
} from '../protocol/engine-fields.js';
import { isRecord, toNames } from '../reading/record-fields.js';
import { boundDetail } from './bound-detail.js';

export interface EngineFacts {
  readonly at: string | null;
  /** Null if the record has none. */
  readonly fields: EngineFields | null;
}

/** The field for a key, by the name of the object that has it; '' for any object. */
const FIELDS_BY_KEY = new Map<string, Map<string, EngineFieldName>>();
for (const [field, names] of ENGINE_NAMES_BY_FIELD) {
  for (const path of names.split(' ')) {
    const dot = path.lastIndexOf('.');
    const key = path.slice(dot + 1);
    const fields = FIELDS_BY_KEY.get(key) ?? new Map<string, EngineFieldName>();
    FIELDS_BY_KEY.set(key, fields.set(path.slice(0, Math.max(dot, 0)), field));
  }
}

/**
 * Values that tools and models wrote: they say nothing about the engine, even if they use its names. The `_meta` of an
 * update of the Agent Client Protocol is the agent's own.
 */
const CONTENT = toNames(
  'arguments content input output parameters structuredContent structured_output rawInput rawOutput _meta',
);

const MAX_DEPTH = 5;

/** The maximum length of a string, and the maximum size of the files of a tool call. */
const MAX_TEXT = 4096;
const MAX_ATTACHMENTS = 64 * 1024;

export function readEngineFields(record: object): EngineFacts {
  return collect(record, findType(record), 0, null) ?? NO_FACTS;
}

/** Most records have no named field: they need no object. */
const NO_FACTS: EngineFacts = { at: null, fields: null };

/** Returns the subtype or type of a record, which its own fields are qualified with. */
function findType(record: object): string {
  const { type, subtype } = record as { readonly type?: unknown; readonly subtype?: unknown };
  return typeof subtype === 'string' && type === 'system' ? subtype : typeof type === 'string' ? type : '';
}

const WRAPPERS: ReadonlySet<string> = new Set(['data', 'part', 'event']);

function collect(object: object, parent: string, depth: number, facts: FoundFacts | null): FoundFacts | null {
  let found = facts;
  for (const key in object) {
    const value = (object as Readonly<Record<string, unknown>>)[key];
    const fields = depth === 0 && key === 'type' ? undefined : FIELDS_BY_KEY.get(key);
    // Also the fast path: most members are neither named nor objects.
    if (fields === undefined && typeof value !== 'object') continue;
    const field = fields?.get(parent) ?? fields?.get('');
    const named = field === undefined ? undefined : convert(field, value, key);
    if (field !== undefined && named !== undefined) {
      found ??= { at: null, fields: null };
      if (field === 'engine_at') found.at ??= named as string;
      else (found.fields ??= {})[field] ??= named;
    }
    const isOpen = named === undefined || field === 'response_headers';
    const isContent = CONTENT.has(key) && !(key === '_meta' && parent === 'update');
    if (isOpen && depth < MAX_DEPTH && isRecord(value) && !isContent)
      found = collect(value, WRAPPERS.has(key) ? parent : key, depth + 1, found);
  }
  return found;
}

interface FoundFacts {
  at: string | null;
  fields: Record<string, unknown> | null;
}

/** Converts a value to a field's type; undefined if it has another type or no value. */
function convert(field: EngineFieldName, value: unknown, key: string): unknown {
  if (value === null || value === '') return undefined;
  const { type = null, pattern } = (field === 'engine_at' ? ENGINE_FIELDS.started_at : ENGINE_FIELDS[field]) as {
    readonly type?: string;
    readonly pattern?: string;
  };
  if (pattern !== undefined) return toTime(value, key);
  if (type === 'string') return typeof value === 'string' ? cutText(value, MAX_TEXT) : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type !== null) return toNumber(value, IN_SECONDS.has(key) ? 1000 : 1, type);
  return boundDetail(toSnakeCase(value, 0), field === 'attachments' ? MAX_ATTACHMENTS : undefined);
}

function toNumber(value: unknown, factor: number, type: unknown): number | undefined {
  const number = (typeof value === 'string' && factor !== 1 ? Number(value) : value) as number;
  const isValid = type === 'number' ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isValid && number >= 0 ? number * factor : undefined;
}

/** Converts a time, in ISO 8601 or in milliseconds or seconds since 1970, to the form that all events use. */
function toTime(value: unknown, key: string): string | undefined {
  const factor = IN_SECONDS.has(key) ? 1000 : 1;
  const ms = typeof value === 'number' ? value * factor : typeof value === 'string' ? Date.parse(value) : NaN;
  return ms >= 0 && ms <= MAX_TIME ? new Date(ms).toISOString() : undefined;
}

/** The times of threads and turns of Codex's app server, and the time to wait in an HTTP header. */
const IN_SECONDS: ReadonlySet<string> = new Set(['startedAt', 'completedAt', 'createdAt', 'retry-after']);

/** The latest time with a four-digit year. */
const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Renames the members of objects, but not the keys of a table, such as names of models and tools. */
function toSnakeCase(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((member) => toSnakeCase(member, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /^[a-z]+(?:[A-Z][a-z\d]*)+$/u.test(key) ? key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`) : key,
      toSnakeCase(member, depth + 1),
    ]),
  );
}

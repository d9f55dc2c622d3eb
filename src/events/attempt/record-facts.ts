import type { Engine } from '../engines/engine.js';
import type { DriftSummary } from '../protocol/translator-output.js';
import { copyStart } from './engine-error.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { readEngineFields, type EngineFacts } from '../mapping/read-engine-fields.js';
import type { EngineFields } from '../protocol/engine-fields.js';
import { omitMissing } from '../reading/record-fields.js';

/** The maximum length of an unknown type or field name in a message. */
export const MAX_NAME = 200;

/** Limit on the distinct types and paths counted; a malicious agent could print a new one on every line. */
const MAX_NAMES = 1000;

/** Longer values are not remembered, so they are emitted each time. */
const MAX_REMEMBERED = 256;

interface UnknownFields {
  /** The values by path; null if each was emitted before. */
  values: Record<string, unknown> | null;
  readonly newPaths: string[];
}

/** Counts unknown types and fields, which reveals changes in an engine's output format. */
export class Drift {
  readonly #known: Engine['fields'];
  readonly #types = new Map<string, number>();
  readonly #fields = new Map<string, number>();
  /** The last value of each unknown field; a field with the same value on every line is emitted once. */
  readonly #lastValues = new Map<string, string>();
  #frame: UnknownFields | null = null;

  constructor(engine: Engine) {
    this.#known = engine.fields;
  }

  addType(type: string): void {
    count(this.#types, type);
  }

  check(record: object, shape: string): void {
    const known = this.#known?.get(shape);
    if (known === undefined) return;
    for (const key in record) {
      if (known.has(key)) continue;
      this.#addField(copyStart(`${shape}.${key}`, MAX_NAME), (record as Readonly<Record<string, unknown>>)[key]);
    }
  }

  /** Returns the unknown fields since the last call, or null. */
  takeFields(): UnknownFields | null {
    const fields = this.#frame;
    this.#frame = null;
    return fields;
  }

  summary(attempt: Pick<DriftSummary, 'run_id' | 'attempt_number' | 'engine' | 'engine_version'>): DriftSummary | null {
    if (this.#types.size === 0 && this.#fields.size === 0) return null;
    return {
      summary: 'drift',
      ...attempt,
      unknown_types: Object.fromEntries(this.#types),
      unknown_fields: Object.fromEntries(this.#fields),
    };
  }

  #addField(path: string, value: unknown): void {
    this.#frame ??= { values: null, newPaths: [] };
    const occurrences = count(this.#fields, path);
    if (occurrences === 1) this.#frame.newPaths.push(path);
    const source = JSON.stringify(value) ?? 'null';
    if (this.#lastValues.get(path) === source) return;
    if (occurrences > 0 && source.length <= MAX_REMEMBERED) this.#lastValues.set(path, source);
    this.#frame.values ??= {};
    this.#frame.values[path] = value;
  }
}

/** Counts an occurrence of a name and returns its count, or 0 for a new name over the limit. */
function count(names: Map<string, number>, name: string): number {
  const previous = names.get(name) ?? 0;
  if (previous === 0 && names.size >= MAX_NAMES) return 0;
  names.set(name, previous + 1);
  return previous + 1;
}

/** Passes the engine's time and fields of each record to the events that follow, and keeps those of the end. */
export class RecordFacts {
  readonly #writer: EventWriter;
  #current: EngineFacts | null = null;
  #last: EngineFields = {};
  #lastAt: string | null = null;
  version: string | null = null;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  /** The fields of the attempt's last event: those of the engine's last record, its version, and why its model stopped. */
  get last(): EngineFields {
    return { ...omitMissing({ engine_version: this.version }), ...this.#last };
  }

  read(record: object): void {
    this.#current = readEngineFields(record);
    this.#writer.facts = this.#current;
    if (this.#current.fields === null) return;
    const { engine_version: version = null, stop_reason } = this.#current.fields;
    this.version = version ?? this.version;
    if (stop_reason !== undefined) this.#last = { ...this.#last, stop_reason };
  }

  /** Selects the record that the next events are about: the current one, or an earlier one, whose fields are gone. */
  select(isCurrent: boolean): void {
    this.#writer.facts = isCurrent ? this.#current : null;
  }

  /** Adds the fields of the current record, which is the engine's last, to the end of the attempt. */
  keepLast(): void {
    this.#last = { ...this.#last, ...this.#writer.takeFields() };
    this.#lastAt = this.#current?.at ?? null;
  }

  clear(): void {
    this.#current = null;
  }

  end(): void {
    this.#writer.facts = { at: this.#lastAt, fields: null };
  }
}

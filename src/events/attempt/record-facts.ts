import type { EventWriter } from '../mapping/event-writer.js';
import { readEngineFields, type EngineFacts } from '../mapping/read-engine-fields.js';
import type { EngineFields } from '../protocol/engine-fields.js';
import { omitMissing } from '../reading/record-fields.js';

/** Passes the engine's time and fields of each record to the events that follow, and keeps those of the end. */
export class RecordFacts {
  readonly #writer: EventWriter;
  #current: EngineFacts | null = null;
  #last: EngineFields = {};
  #lastAt: string | null = null;
  /** The engine's version, if it prints it. */
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

  /** Forgets the current record, because a new frame starts. */
  clear(): void {
    this.#current = null;
  }

  end(): void {
    this.#writer.facts = { at: this.#lastAt, fields: null };
  }
}

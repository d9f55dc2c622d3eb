import type { AlignableSchema } from '../../../src/json/index.js';
import { inspect } from './inspect.js';
import type { Inspection, InspectionInput, SchemaProblem } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import { startStream } from './stream-session.js';
import type { StreamSession } from './stream-session.js';

/** A text that was read: what the page shows of it, and what can be asked for afterwards. */
export interface TextReading {
  readonly ok: true;
  readonly inspection: Inspection;
  readonly tookMs: number;
  /** The whole value as JSON text. */
  readonly writeValue: () => string;
  /** Reads the text anew, piece by piece; null for one that is too long for that. */
  readonly startStream: (() => StreamSession) | null;
}

/** Reads a text here, at once. */
export function readText({ text, schemaText, options }: InspectionInput): TextReading | SchemaRefusal {
  const reading = readSchemaText(schemaText);
  if (!reading.ok) return reading;
  const schema: AlignableSchema | undefined = reading.schema;
  const began = performance.now();
  const { inspection, value } = inspect(text, schema, options);
  return {
    ok: true,
    inspection,
    tookMs: performance.now() - began,
    writeValue: () => JSON.stringify(value, null, 2) ?? '',
    startStream: () => startStream(text, schema, options),
  };
}

/** A schema that cannot be read with. */
export interface SchemaRefusal {
  readonly ok: false;
  readonly problem: SchemaProblem;
}

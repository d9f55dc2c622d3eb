import { exportJsonSchema, isJsonObject } from '../../json-schema/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunContract } from '../../records/index.js';

/** What a contract may hold the output against: a JSON Schema as data, or a schema of a library. */
export type ContractSchema = NonNullable<RunContract['schema']>;

/** The JSON Schema behind it; undefined where a library has no way to write one. */
export function toJsonSchema(schema: ContractSchema | undefined): Readonly<Record<string, unknown>> | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) return schema;
  try {
    const exported = exportJsonSchema(schema);
    return isJsonObject(exported) ? exported : undefined;
  } catch {
    // The schema still decides about the output; the agent only is not told its shape.
    return undefined;
  }
}

/** Tells a schema of a library from other values. Some libraries make their schemas functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value;
}

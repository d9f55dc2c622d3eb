import { exportJsonSchema, isJsonObject } from '../../json/schema/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunContract } from '../../store/records/index.js';

/** A contract's schema: a JSON Schema as data, or a schema from a library. */
export type ContractSchema = NonNullable<RunContract['schema']>;

/** Returns a contract's JSON Schema; undefined if the schema library cannot export one. */
export function toJsonSchema(schema: ContractSchema | undefined): Readonly<Record<string, unknown>> | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) return schema;
  try {
    const jsonSchema = exportJsonSchema(schema);
    return isJsonObject(jsonSchema) ? jsonSchema : undefined;
  } catch {
    // The schema still validates the output, but the agent does not get it.
    return undefined;
  }
}

/** Whether a value is a schema from a library. In some libraries, schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value;
}

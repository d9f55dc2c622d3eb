import type { AlignableSchema, Profile, StandardSchema } from '../index.js';
import { exportJsonSchema } from './export-json-schema.js';
import { isJsonObject } from './json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { TRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';

/** Options of {@link formatInstructions}. */
export interface FormatInstructionsOptions {
  /** The profile the answer is parsed with: `tagged` requests `<json>` tags. */
  readonly profile?: Profile;
}

/**
 * Formats prompt instructions that make a model answer with a value matching this schema: the answer's form and the
 * JSON Schema. Accepts a JSON Schema, or a schema that {@link alignable} accepts. Throws if a schema cannot be exported
 * as JSON Schema.
 *
 * @example
 * const prompt = `Where is the bug?\n\n${formatInstructions(z.object({ file: z.string(), line: z.int() }))}`
 */
export function formatInstructions(
  schema: StandardSchema | JsonSchema,
  { profile }: FormatInstructionsOptions = {},
): string {
  const root = readJsonSchema(schema);
  const type = isJsonObject(root) ? root['type'] : undefined;
  const form = type === 'object' || profile === 'unified' ? 'object' : type === 'array' ? 'array' : 'value';
  return [
    `Answer with one JSON ${form} that is valid under this JSON Schema:`,
    JSON.stringify(root),
    profile === 'tagged'
      ? 'Put it between <json> and </json>. Inside the tags write nothing but the JSON.'
      : 'Write the JSON only: no other text, no Markdown, no code fence.',
  ].join('\n');
}

/** Reads the document without `$schema`, which is useless to a model. */
function readJsonSchema(schema: StandardSchema | JsonSchema): unknown {
  const jsonSchema = isStandardSchema(schema) ? getJsonSchema(schema) : schema;
  const { node } = readDocument(jsonSchema, TRUSTED_BOUNDS).root;
  if (!isJsonObject(node)) return node;
  const { $schema: _, ...rest } = node;
  return rest;
}

function isStandardSchema(schema: StandardSchema | JsonSchema): schema is StandardSchema {
  return (typeof schema === 'object' || typeof schema === 'function') && '~standard' in schema;
}

function getJsonSchema(schema: StandardSchema | AlignableSchema): unknown {
  const known = '~sluice' in schema ? schema['~sluice'].jsonSchema : undefined;
  return known ?? exportJsonSchema(schema);
}

import type { JsonSchema } from '../json-schema/index.js';
import { RUN_ENGINES } from './run-engine.js';

/** Longer ones are files of the working folder. */
const PROMPT_LENGTH = 16 * 1024 * 1024;

const word = { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]*$' } as const;
/** Timers count no further than 24 days. */
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 2_000_000 } as const;
const amount = { type: 'number', exclusiveMinimum: 0 } as const;
const count = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

/**
 * The JSON Schema (draft 2020-12) of what can be said of a run in JSON. A Standard Schema as `contract.schema` and
 * `contract.normalizers` exist in process only.
 */
export const runSpecSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:run-spec:1.0',
  title: 'A run',
  type: 'object',
  required: ['engine', 'workdir'],
  additionalProperties: false,
  properties: {
    engine: { enum: [...RUN_ENGINES] },
    prompt: { type: 'string', maxLength: PROMPT_LENGTH },
    command: { type: 'array', minItems: 1, maxItems: 4096, items: { type: 'string', pattern: '^[^\\u0000]*$' } },
    workdir: word,
    contract: {
      type: 'object',
      additionalProperties: false,
      properties: {
        schema: { type: 'object' },
        profile: { enum: ['default', 'generic', 'tagged', 'unified'] },
        allow_partial: { type: 'boolean' },
        align: { type: 'boolean' },
      },
    },
    mode: { enum: ['auto', 'interactive'] },
    permissions: { enum: ['safe', 'workspace', 'bypass'] },
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: {
        time_s: seconds,
        idle_s: seconds,
        wait_s: seconds,
        output_bytes: count,
        line_bytes: count,
        tokens: count,
        cost: amount,
      },
    },
    env: { type: 'array', maxItems: 1024, items: { type: 'string', pattern: '^[A-Za-z_*][A-Za-z0-9_*]*$' } },
    input_files: { type: 'array', maxItems: 10_000, items: word },
    cache: { enum: [true, false, 'refresh'] },
    max_retries: { type: 'integer', minimum: 0, maximum: 100 },
    model: word,
    terminal: { type: 'boolean' },
  },
} as const satisfies JsonSchema;

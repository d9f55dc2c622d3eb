import { count, flag, name, object, oneOf } from '../events/protocol/schema-type.js';
import type { FromSchema } from '../events/protocol/schema-type.js';
import { WRAPPER_SCHEMA } from '../orders/wrappers/wrapper.js';

const names = { type: 'array', items: name } as const;

/** Where comments go. Secrets are named by the environment variable that holds them, never written here. */
const sinkSchema = object(
  { type: oneOf(['markdown', 'webhook', 'github', 'gitlab']) },
  {
    name,
    dir: name,
    url: name,
    base_url: name,
    secret_env: name,
    token_env: name,
    allow_private_addresses: flag,
  },
);

/** What `sluice.config.json` or `sluice.config.mjs` may say; all of it optional. */
export const configFileSchema = object(
  {},
  {
    /** The folder of run folders, comments and the SQLite file. */
    data: name,
    /** `sqlite:FILE` or `postgres://…`. */
    database: name,
    wrappers: { type: 'object', additionalProperties: WRAPPER_SCHEMA },
    sinks: { type: 'array', items: sinkSchema },
    /** How many orders of a worker type may run at once. */
    concurrency: { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
    /** Where a program is, for engines that are not on the PATH. */
    programs: { type: 'object', additionalProperties: name },
    secrets: object({}, { patterns: names }),
    lease_s: { type: 'number', minimum: 1 },
    max_delivery_tries: count,
  },
);

/** See {@link configFileSchema}. */
export type ConfigFile = FromSchema<typeof configFileSchema>;

/** What one sink of the configuration says. */
export type SinkConfig = FromSchema<typeof sinkSchema>;

/** The settings of this process, wherever each came from. */
export interface Config extends Omit<ConfigFile, 'data' | 'database'> {
  /** Absolute. */
  readonly data: string;
  readonly database: string;
  /** The file that was read; null if there is none. */
  readonly file: string | null;
}

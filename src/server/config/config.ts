import { count, flag, name, object, oneOf, type FromSchema } from '../../base/index.js';
import {
  approvalRulesSchema,
  engineNameSchema,
  imageName,
  RUN_ENGINES,
  sandboxUse,
} from '../../store/records/index.js';
import type { PackingSettings, RetentionSettings } from '../../orders/dispatch/index.js';
import { CHECK_SCHEMA, GIT_FILTERS_SCHEMA, REPO_SCHEMA, WRAPPER_SCHEMA } from '../../orders/index.js';
import { agentSettingsSchema, type AgentSettings } from '../../runs/index.js';

const names = { type: 'array', items: name } as const;

/** An executable, or an executable with its arguments: never a command line that a shell would have to split. */
const programSchema = { type: ['string', 'array'], minLength: 1, items: name, minItems: 1 } as const;

/** Executables by engine, except `command`, whose executable is in the spec. */
const programsSchema = {
  type: 'object',
  propertyNames: oneOf(RUN_ENGINES.filter((engine) => engine !== 'command')),
  additionalProperties: programSchema,
} as const;

/** A destination for comments. Secrets come from environment variables, which are named here. */
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
    /** The language of the comments; lines such as `RunId: …` are the same in every language. */
    language: oneOf(['en', 'zh']),
  },
);

/** The webhook that is called when something needs a human. */
const notifySchema = object(
  { url: name, secret_env: name },
  {
    /** Base URL of the console, for links in notifications. */
    console_url: name,
    allow_private_addresses: flag,
  },
);

/** A token of the server and its scopes. Prefer `value_env`, the name of an environment variable, to `value`. */
const tokenSchema = object(
  { name, scopes: { type: 'array', items: oneOf(['read', 'run', 'decide', 'worker']) } },
  { value: name, value_env: name },
);

const limit = { type: 'integer', minimum: 1 } as const;

/** Address and limits of the server. */
const serverSchema = object(
  {},
  {
    host: name,
    port: { type: 'integer', minimum: 0, maximum: 65_535 },
    /** Additional host names of the server. */
    hosts: names,
    /** Sites whose pages may call it with a token: `https://console.example.org`. */
    origins: names,
    /** Files with the certificate chain and the private key, in PEM format: the server then speaks HTTPS itself. */
    tls: object({ cert: name, key: name }),
    /** Whether browsers connect over HTTPS, through a proxy: cookies are then marked `Secure`. */
    https: flag,
    /** Environment variables that requests may pass to agents; `*` matches any characters. */
    env: names,
    /** Whether requests may use `permissions: bypass`. */
    allow_bypass: flag,
    /** How long running work may take to finish when the server shuts down. */
    grace_s: { type: 'number', minimum: 0 },
    log_level: oneOf(['debug', 'info', 'warn', 'error']),
    /** Runs with at least this many unknown types and fields are logged. */
    drift_threshold: limit,
    limits: object(
      {},
      {
        body_bytes: limit,
        /** How long a request may take. */
        request_s: limit,
        requests_at_once: limit,
        streams_at_once: limit,
        /** Requests per caller. */
        requests_per_minute: limit,
        /** Requests per address rejected because of their token. */
        refusals_per_minute: limit,
      },
    ),
  },
);

/** The URL of the database, or an object with the URL and the maximum number of connections per process. */
const databaseSchema = {
  type: ['string', 'object'],
  minLength: 1,
  properties: {
    /** The SQLite file in the data folder by default. */
    url: name,
    /** Connections per process, besides the listening one; PostgreSQL only. `openStore` has the same limits. */
    pool: { type: 'integer', minimum: 2, maximum: 1000 },
  },
  required: [],
  additionalProperties: false,
} as const;

const dayCount = { type: 'number', exclusiveMinimum: 0 } as const;

/** How long data is kept, in days; data without a setting is kept forever. */
const retentionSchema = object(
  {},
  {
    /** Folders and events of runs that have ended. */
    runs: dayCount,
    /** Records of ended runs, with orders, executions and resolved inbox items; after their folders and events. */
    records: dayCount,
    /** Delivered comments in the outbox. */
    delivered: dayCount,
    /** Cached results. */
    results: dayCount,
    /** Mirrors of repositories that are no longer in `repos`, after their last use; 30 by default. */
    mirrors: dayCount,
  },
);

/** A limit on tokens, cost or both. */
const amount = object(
  {},
  {
    /** Input and output tokens together. */
    tokens: { type: 'integer', minimum: 1 },
    /** US dollars, as engines report them. */
    cost: { type: 'number', exclusiveMinimum: 0 },
  },
);

/** Limits that all runs share. */
const budgetsSchema = object(
  {},
  {
    /** The total for all runs in a day (UTC). */
    day: amount,
    /** The limit for each issue, over all its runs in the last year. */
    issue: amount,
    /** Daily limits for runs requested with a token, keyed by token name; `*` applies to every token not listed. */
    callers: { type: 'object', additionalProperties: amount },
  },
);

const dollars = { type: 'number', minimum: 0 } as const;

/** A model's prices in US dollars per million tokens; cached input costs as much as other input by default. */
const priceSchema = object({ input: dollars, output: dollars }, { cached_input: dollars });

/** See {@link priceSchema}. */
export type ModelPrice = FromSchema<typeof priceSchema>;

/** A work request without the fields that Sluice adds. Its fields are checked when it is submitted. */
const requestPart = { type: 'object' } as const;

const scheduleSchema = object(
  {
    /** Minute, hour, day, month, weekday; UTC. */
    cron: name,
    request: requestPart,
  },
  {
    /** The action of a tick while its issue has a run under way; `skip` by default. */
    overlap: oneOf(['skip', 'queue', 'replace']),
  },
);

/** A forge webhook that starts orders. */
const triggerSchema = object(
  {
    type: oneOf(['github', 'gitlab']),
    /** The environment variable with the webhook's secret. */
    secret_env: name,
    /** The label that starts work. */
    label: name,
    /** Repositories by name, with their location. */
    repositories: { type: 'object', additionalProperties: object({}, { repo: name, repo_dir: name }) },
    /** The rest of the order: `role`, `worker`, `instructions` with `{ref}`, `{title}`, `{body}`, `{url}`. */
    request: requestPart,
  },
  {
    /** Users who may start work with the label; by default everyone who may set it. */
    senders: names,
    /** Maximum number of accepted deliveries per minute. */
    per_minute: { type: 'integer', minimum: 1 },
  },
);

/** Whether and when the folder of an ended run is packed into one file. */
const packingSchema = object({}, { enabled: flag, after_s: { type: 'number', minimum: 0 } });

/** `command` cannot be replaced by an agent: each spec names its executable. */
const agentNameSchema = { ...engineNameSchema, not: { const: 'command' } } as const;

/** The settings in `sluice.config.json` or `sluice.config.mjs`; all are optional. */
export const configFileSchema = object(
  {},
  {
    /** The JSON Schema of this file, for editors: `schemas/config.json` in the package. */
    $schema: name,
    /** The folder with run folders, comments and the SQLite file. */
    data: name,
    /** `sqlite:FILE` or `postgres://…`; or `{ url, pool }`. */
    database: databaseSchema,
    wrappers: { type: 'object', additionalProperties: WRAPPER_SCHEMA },
    /** Commands that Sluice itself runs to check agents' changes. */
    checks: { type: 'object', additionalProperties: CHECK_SCHEMA },
    sinks: { type: 'array', items: sinkSchema },
    /** A file with a template for comments; `templates/comment.md` in the package is the default. */
    comment_template: name,
    notify: notifySchema,
    /** The maximum number of concurrent orders per wrapper type. */
    concurrency: { type: 'object', additionalProperties: { type: 'integer', minimum: 1 } },
    /** An engine's executable, if it is not the default one on the PATH. */
    programs: programsSchema,
    /** Agents besides the built-in engines, keyed by the name that specs use. */
    agents: { type: 'object', propertyNames: agentNameSchema, additionalProperties: agentSettingsSchema },
    /** Rules for `permissions: ask`: which tools are allowed or denied without asking. The first match wins. */
    approvals: approvalRulesSchema,
    /** Whether runs are sandboxed unless their spec says so (`required`: all runs), and additional folders to mount. */
    sandbox: object({}, { use: sandboxUse, read: names, write: names }),
    /** Where runs can be placed besides this host. */
    placements: object(
      {},
      {
        container: object(
          {},
          {
            /** The container engine and its global options; Podman, or else Docker, by default. */
            command: { type: 'array', minItems: 1, items: name },
            /** The image of runs that name none. */
            image: imageName,
            /** Images that requests may name besides; `*` matches any characters. */
            images: names,
          },
        ),
        /** Pods: `docs/kubernetes.md`. */
        kubernetes: object(
          {},
          {
            /** The kubeconfig; by default as `kubectl` finds it, or inside a pod its service account. */
            kubeconfig: name,
            context: name,
            /** The address of the server, as pods reach it; its own by default. */
            server: name,
            /** The namespace of runs; that of the context, or of the pod, by default. */
            namespace: name,
            /** The image of the worker's container, which contains Sluice. */
            worker_image: imageName,
            /** The image of the agent's container of runs that name none. */
            image: imageName,
            /** Images that requests may name besides; `*` matches any characters. */
            images: names,
            /** The service account of pods that name none. */
            service_account: name,
            /** Such as `gvisor` or `kata`. */
            runtime_class: name,
            /** How long a finished job stays in the cluster; an hour by default. */
            ttl_s: count,
            /** The resource that `gpu` counts; `nvidia.com/gpu` by default. */
            gpu_resource: name,
            /** Merged into the template of pods. */
            template: { type: 'object' },
          },
        ),
      },
    ),
    /** Regular expressions for secrets to mask, besides the values of sensitive variables. */
    secrets: object({}, { patterns: names }),
    /** How long a worker's claim is valid without being renewed. */
    lease_s: { type: 'number', minimum: 1 },
    /** After this many attempts, the delivery of a comment has failed permanently. */
    max_delivery_tries: count,
    /** How many times an order is requeued if its worker dies. */
    retries: object({}, { worker_lost: { type: 'integer', minimum: 0, maximum: 10 } }),
    tokens: { type: 'array', items: tokenSchema },
    /** Folders that requests to the server may name, including their subfolders. */
    roots: names,
    /** Repositories that orders may name by their URL. */
    repos: { type: 'array', items: REPO_SCHEMA },
    /** Filters from the user's own git configuration that may run on files in worktrees and checks: `['lfs']`. */
    git: object({}, { filters: GIT_FILTERS_SCHEMA }),
    /** Executables that requests to the server may start with engine `command`. */
    commands: names,
    server: serverSchema,
    /** Whether traces contain prompts, answers and the use of tools, shortened; and the base URL of links to runs. */
    traces: object({}, { content: flag, console_url: name }),
    budgets: budgetsSchema,
    /** Prices by model, for runs whose engine reports no cost; `*` matches any characters, the first match counts. */
    prices: { type: 'object', additionalProperties: priceSchema },
    schedules: { type: 'object', additionalProperties: scheduleSchema },
    triggers: { type: 'object', additionalProperties: triggerSchema },
    retention: retentionSchema,
    packing: packingSchema,
    /** The archive of packed runs: `s3://bucket/prefix`. Credentials come from the environment. */
    archive: name,
  },
);

/** See {@link configFileSchema}. */
export type ConfigFile = FromSchema<typeof configFileSchema>;

export type SinkConfig = FromSchema<typeof sinkSchema>;

/** The sinks if none are configured: a Markdown file per issue. */
export const DEFAULT_SINKS: readonly SinkConfig[] = [{ type: 'markdown' }];

export type TokenConfig = FromSchema<typeof tokenSchema>;

/** The settings of this process, from all sources. */
export interface Config extends Omit<ConfigFile, 'data' | 'database' | 'agents'> {
  readonly agents?: Readonly<Record<string, AgentSettings>>;
  /** An absolute path. */
  readonly data: string;
  readonly database: string;
  /** Maximum number of database connections, if configured. */
  readonly pool?: number;
  /** Warnings for the user about agents that replace built-in engines. */
  readonly warnings: readonly string[];
  /** The loaded file, or null. */
  readonly file: string | null;
}

/** Returns the file of a SQLite database; undefined for other databases and for one in memory. */
export function findDatabaseFile(database: string): string | undefined {
  return /^sqlite:(?!:memory:$)(?<file>.+)$/s.exec(database)?.groups?.['file'];
}

const DAY_MS = 86_400_000;

/** Reads how long data is kept, converted from days to milliseconds. */
export function readRetention({ retention = {} }: Pick<Config, 'retention'>): RetentionSettings {
  const { runs, records, delivered, results, mirrors } = retention;
  // A run's events cannot be found without its record, so they are deleted no later.
  const runsMs = records === undefined ? runs : Math.min(runs ?? records, records);
  return {
    runsMs: toMs(runsMs),
    recordsMs: toMs(records),
    deliveredMs: toMs(delivered),
    resultsMs: toMs(results),
    mirrorsMs: toMs(mirrors),
  };
}

/** Reads whether and when run folders are packed. */
export function readPacking({ packing = {} }: Pick<Config, 'packing'>): PackingSettings {
  const { enabled: isOn = true, after_s: afterS } = packing;
  return { isOn, afterMs: afterS === undefined ? undefined : afterS * 1000 };
}

function toMs(days: number | undefined): number | undefined {
  return days === undefined ? undefined : days * DAY_MS;
}

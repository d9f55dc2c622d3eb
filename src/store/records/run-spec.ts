import { flag, object, oneOf, type FromSchema, name, text } from '../../base/index.js';
import type { Normalizer, StandardSchema } from '../../json/index.js';

/** A rule that allows or denies a tool: the first whose patterns all match. In `path`, only `**` matches a slash. */
const approvalRuleSchema = object(
  { decide: oneOf(['allow', 'deny', 'ask']) },
  {
    tool: name,
    /** The command line that the tool would run. */
    command: name,
    /** A file the tool accesses, relative to the working folder. */
    path: name,
    why: text,
  },
);

export type ApprovalRule = FromSchema<typeof approvalRuleSchema>;

/** The approval rules in the configuration or in a run spec. */
export const approvalRulesSchema = { type: 'array', maxItems: 1000, items: approvalRuleSchema } as const;

/** The built-in engines, and `command` for any other executable, in display order. */
export const RUN_ENGINES = ['codex', 'gemini', 'iflow', 'opencode', 'claude', 'qwen', 'copilot', 'command'] as const;

/** The name of a built-in or configured engine. */
export const engineNameSchema = { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' } as const;

/** The name of a built-in engine. */
export type RunEngine = (typeof RUN_ENGINES)[number];

/** Longer prompts belong in files in the working folder. */
const MAX_PROMPT_LENGTH = 16 * 1024 * 1024;

const shortText = { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]*$' } as const;
/** At most 23 days: Node.js timers cannot exceed 24. */
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 2_000_000 } as const;
const positiveInteger = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

const limitsSchema = object(
  {},
  {
    /** Total working time of all attempts. */
    time_s: seconds,
    /** Time without output. */
    idle_s: seconds,
    /** How long to wait for the answer to a question; `time_s` and `idle_s` are paused meanwhile. */
    wait_s: seconds,
    /** How long a process is kept while it waits for an answer. Then its session is resumed with the answer. */
    hold_s: seconds,
    output_bytes: positiveInteger,
    line_bytes: positiveInteger,
    /** Total number of RASP and FCMP events of all attempts. */
    events: positiveInteger,
    /** Size of the run folder: captured bytes and the events derived from them. */
    stored_bytes: positiveInteger,
    tokens: positiveInteger,
    /** US dollars, as reported by the engine. */
    cost: { type: 'number', exclusiveMinimum: 0 },
  },
);

/** The enums of a run spec, shared with lists and forms. */
export const runMode = oneOf(['auto', 'interactive']);
export const runPermissions = oneOf(['safe', 'workspace', 'bypass', 'ask']);
export const sandboxUse = oneOf(['auto', 'required', 'off']);
const placementName = oneOf(['local', 'container', 'kubernetes']);

/** The name of an image, with an optional tag or digest; no part of it starts with a dash, which an engine would read as an option, or a dot. */
export const imageName = {
  type: 'string',
  maxLength: 500,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:@-]*(?:/[A-Za-z0-9][A-Za-z0-9._:@-]*)*$',
} as const;

/** The name of something in a cluster, as its API accepts it. */
const placeName = { type: 'string', maxLength: 253, pattern: '^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$' } as const;
const placeText = { type: 'string', minLength: 1, maxLength: 316 } as const;

/** A port: 1 to 65535. */
const PORT_PATTERN = '(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';

/**
 * A host name, `*.` and a name for all its subdomains, or an IP address, with an optional port. Without a port, ports
 * 80 and 443 are allowed.
 */
const HOST_PATTERN = `^(?:(?:\\*\\.)?[A-Za-z0-9][A-Za-z0-9_-]{0,62}(?:\\.[A-Za-z0-9_-]{1,63})*|\\[[0-9A-Fa-f:.]{2,45}\\])(?::${PORT_PATTERN})?$`;

/** The network access of a sandboxed process. */
export const sandboxNetwork = {
  anyOf: [
    oneOf(['host', 'none']),
    { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', maxLength: 300, pattern: HOST_PATTERN } },
  ],
} as const;

const LABEL_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$';

/** Labels by name. A claim looks for every combination of a worker's labels, so they are few. */
export const labelsSchema = {
  type: 'object',
  maxProperties: 6,
  propertyNames: { type: 'string', pattern: LABEL_PATTERN },
  additionalProperties: { type: 'string', pattern: LABEL_PATTERN },
} as const;

export type Labels = FromSchema<typeof labelsSchema>;

const placementFields = {
  /**
   * Where the agent's process runs. `local` (default): on this host, in a bubblewrap sandbox if `sandbox` says so.
   * `container`: in a container of the worker's engine. `kubernetes`: a server starts a pod for the run, with a worker
   * in it.
   */
  placement: placementName,
  /** The image of a container or pod; the configured one by default. */
  image: imageName,
  /** The processor cores that it may use. */
  cpu: { type: 'number', exclusiveMinimum: 0, maximum: 1024 },
  /** The memory that it may use: bytes, or with a unit (`512Mi`, `4Gi`). */
  memory: { type: 'string', pattern: '^[1-9][0-9]{0,14}(?:[KMG]i)?$' },
  /** The graphics processors that a pod gets. */
  gpu: { type: 'integer', minimum: 1, maximum: 1024 },
  /** The service account of a pod; the configured one by default. */
  service_account: placeName,
  /** Names of the cluster's secrets, whose values are variables of the agent in a pod. */
  secrets: { type: 'array', maxItems: 100, uniqueItems: true, items: placeName },
  /** Labels that the node of a pod must have. */
  node_selector: { type: 'object', maxProperties: 100, additionalProperties: placeText },
  /** Taints of nodes that a pod tolerates. */
  tolerations: {
    type: 'array',
    maxItems: 100,
    items: object({}, { key: placeText, operator: oneOf(['Exists', 'Equal']), value: placeText, effect: placeText }),
  },
} as const;

/** The fields of a spec that say where a run is executed, and that only its placement reads. */
export const PLACEMENT_FIELDS = Object.keys(placementFields) as (keyof typeof placementFields)[];

/** A run to start, as JSON. */
export const storedRunSpec = {
  type: 'object',
  required: ['engine', 'workdir'],
  additionalProperties: false,
  properties: {
    /** A built-in engine, or one configured in `agents`. */
    engine: engineNameSchema,
    /** For `command`: the engine whose format the output has; plain text by default. */
    format: engineNameSchema,
    /** An existing engine session for the run to resume. */
    session: { type: 'string', pattern: '^[A-Za-z0-9][\\w.:-]{0,199}$' },
    /** The task for the agent; for `command`, its stdin. */
    prompt: { type: 'string', maxLength: MAX_PROMPT_LENGTH },
    /** The executable and its arguments, for engine `command` only. */
    command: { type: 'array', minItems: 1, maxItems: 4096, items: { type: 'string', pattern: '^[^\\u0000]*$' } },
    /** The agent's working folder; only one run at a time uses it. */
    workdir: shortText,
    /** Without a contract, a run that ends normally is a success. */
    contract: object(
      {},
      {
        schema: { type: 'object' },
        profile: oneOf(['default', 'generic', 'tagged', 'unified']),
        allow_partial: flag,
        align: flag,
        /** Whether the prompt asks for `<thinking>` before the result, in profiles with tags; true by default. */
        thinking: flag,
      },
    ),
    /**
     * `auto` (default): the end of the agent's turn is its answer. `interactive`: without the done marker, it is a
     * question to the user.
     */
    mode: runMode,
    /**
     * `safe` (default): read only. `workspace`: also edit the working folder. `bypass`: everything, without asking.
     * `ask`: as the rules say, otherwise ask a user.
     */
    permissions: runPermissions,
    /** For `permissions: ask`: rules for tools. The first match wins; the configuration's rules come first. */
    approvals: approvalRulesSchema,
    /** `auto` (default): use bubblewrap if it works. `required`: fail if it does not work. `off`: no sandbox. */
    sandbox: sandboxUse,
    /** The sandbox's network. `host` (default): the host's. `none`: no network. A list: hosts that a proxy allows. */
    network: sandboxNetwork,
    ...placementFields,
    /** The labels that a worker must have to execute the run. */
    labels: labelsSchema,
    limits: limitsSchema,
    /** Names of environment variables to pass, or patterns such as `OPENAI_*`. */
    env: { type: 'array', maxItems: 1024, items: { type: 'string', pattern: '^[A-Za-z_*][A-Za-z0-9_*]*$' } },
    /** Files that the result depends on, relative to the working folder. Required for caching; can be empty. */
    input_files: { type: 'array', maxItems: 10_000, items: shortText },
    /** `true` reads and writes the cache, `refresh` only writes it. */
    cache: { enum: [true, false, 'refresh'] },
    /**
     * `same-host`: if its worker is lost, another worker on the same host resumes the session. Otherwise the run ends.
     */
    resume: { const: 'same-host' },
    /** How often invalid output is sent back to the agent with the errors; 0 by default. */
    max_retries: { type: 'integer', minimum: 0, maximum: 100 },
    model: shortText,
    /** The span that requested the run, in W3C Trace Context format; the parent of the run's spans. */
    traceparent: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
    /** `true`: capture through a terminal instead of pipes. `beside`: through both, the default of `codex` if possible. */
    terminal: { enum: [true, false, 'beside'] },
  },
} as const;

/** JSON Schema (draft 2020-12) of a run to start. */
export const runSpecSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:run-spec:1.0',
  title: 'A run',
  ...storedRunSpec,
} as const;

/** A run to start, as JSON: in requests and in the store. */
export type StoredRunSpec = FromSchema<typeof storedRunSpec>;

/** A run to start. Within the same process, its contract can contain values that JSON cannot represent. */
export interface RunSpec extends Omit<StoredRunSpec, 'contract'> {
  /** Without a contract, a run that ends normally is a success. */
  readonly contract?: RunContract;
}

/** The requirements for the output. */
export interface RunContract extends Omit<NonNullable<StoredRunSpec['contract']>, 'schema'> {
  /** A JSON Schema or, within the same process, any Standard Schema. */
  readonly schema?: StandardSchema | Readonly<Record<string, unknown>>;
  /** Only within the same process. */
  readonly normalizers?: readonly Normalizer[];
}

/** Limits that end a run. */
export type RunLimits = FromSchema<typeof limitsSchema>;

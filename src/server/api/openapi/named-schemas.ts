import * as records from '../../../store/records/index.js';
import * as order from '../shapes/order.js';
import * as parse from '../shapes/parse.js';
import * as run from '../shapes/run.js';
import * as service from '../shapes/service.js';
import type { EndpointName } from '../endpoints.js';

export type AnySchema = Readonly<Record<string, unknown>>;

/** Returns the names of schemas, which are recognised by object identity. */
function listNames(): Map<object, string> {
  const schemas = {
    Change: records.changeSchema,
    CommentPreview: order.commentPreviewSchema,
    Decision: records.orderRecordSchema.properties.decision.anyOf[0],
    Evidence: records.evidenceSchema,
    Execution: records.executionSchema,
    InboxItem: order.inboxResponseSchema,
    Issue: records.issueSchema,
    IssueDetail: order.issueDetailSchema,
    Offer: run.offerSchema,
    Order: order.orderSchema,
    OutboxMessage: records.outboxMessageSchema,
    ParseRequest: parse.parseRequestSchema,
    ParseResult: parse.parseResponseSchema,
    PermissionChoice: records.permissionChoiceSchema,
    Problem: service.problemSchema,
    Race: records.raceSchema,
    Resolution: order.resolveRequestSchema,
    Run: run.runSchema,
    RunFailure: records.runFailureSchema,
    RunFiles: run.runFilesSchema,
    RunRequest: run.runRequestSchema,
    RunResult: records.runResultSchema,
    RunSpec: records.storedRunSpec,
    RunSummary: run.runSummarySchema,
    Schedule: records.scheduleSchema,
    SchedulePause: records.schedulePauseSchema,
    ScheduleTick: records.scheduleTickSchema,
    Session: service.sessionSchema,
    Settings: service.settingsSchema,
    Sink: records.sinkStateSchema,
    Statistics: service.statisticsSchema,
    SubmittedOrder: order.submittedOrderSchema,
    Usage: records.runResultSchema.properties.usage,
    Waiting: order.waitingSchema,
    WorkRequest: records.WORK_REQUEST_SCHEMA,
    WorkResult: records.workResult,
    Worker: records.workerSchema,
  };
  return new Map(Object.entries<object>(schemas).map(([name, schema]) => [schema, name]));
}

export interface Components {
  /** Returns the schema, or a reference to it if it has a name. A schema without a name gets `fallbackName`, if given. */
  readonly toReference: (schema: object, fallbackName?: string) => AnySchema;
  readonly schemas: Readonly<Record<string, AnySchema>>;
}

/** Omitted, because a nested `$id` would change the base URI of the references inside it. */
const OMITTED_KEYWORDS = new Set(['$id', '$schema']);

/** Creates an empty collection. */
export function createComponents(): Components {
  const names = listNames();
  const schemas: Record<string, AnySchema> = {};

  function toReference(schema: object, fallbackName?: string): AnySchema {
    const name = names.get(schema) ?? fallbackName;
    if (name === undefined) return rewrite(schema as AnySchema);
    if (schemas[name] === undefined) {
      names.set(schema, name);
      // Set before it is rewritten, so a schema that contains itself does not recurse forever.
      schemas[name] = {};
      schemas[name] = rewrite(schema as AnySchema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function rewrite(schema: AnySchema): AnySchema {
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => !OMITTED_KEYWORDS.has(key))
        .map(([key, value]) => [key, rewriteKeyword(key, value)]),
    );
  }

  function rewriteKeyword(key: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    switch (key) {
      case 'items':
      case 'additionalProperties':
      case 'propertyNames':
        return toReference(value);
      case 'anyOf':
        return Object.values(value).map((part: object) => toReference(part));
      case 'properties':
        return Object.fromEntries(
          Object.entries(value).map(([name, part]: [string, object]) => [name, toReference(part)]),
        );
      default:
        return value;
    }
  }

  return { toReference, schemas };
}

/** Handwritten examples. A test checks them against their schemas. */
const HANDWRITTEN: Partial<Record<EndpointName, { readonly request?: unknown; readonly response?: unknown }>> = {
  parse: {
    request: {
      text: 'Sure! {"file": "a.ts", "line": 3,}',
      schema: { type: 'object', required: ['file'], properties: { file: { type: 'string' } } },
    },
    response: {
      status: 'success',
      repair_level: 'deterministic_generic',
      repairs: [
        { kind: 'extracted', message: 'extracted', offset: 6 },
        { kind: 'extra_comma', message: 'extra comma', offset: 32 },
      ],
      warnings: [{ code: 'OUTPUT_REPAIRED_GENERIC', message: 'Repairs: extracted, extra_comma.' }],
      value: { file: 'a.ts', line: 3 },
      candidate: { finder: 'prose', start: 6, end: 34 },
    },
  },
  startRun: {
    request: {
      engine: 'codex',
      prompt: 'Find the worst bug in src/ and describe it.',
      workdir: '/srv/work/shop',
      contract: { schema: { type: 'object', required: ['file', 'line'] } },
      limits: { time_s: 600 },
      request_id: 'nightly-2026-11-15',
    },
  },
  replyToRun: { request: { text: 'The second one.' } },
  submitOrder: {
    request: {
      issue_ref: 'acme/shop#12',
      role: 'backend',
      repo_dir: '/srv/work/shop',
      worker: 'codex-cli',
      instructions: 'Reject orders with a negative quantity, and test it.',
      checks: ['test'],
    },
  },
  previewResolution: { request: { action: 'accept', why: 'Tests pass, and the change is small.' } },
  resolveItem: { request: { action: 'retry', why: 'The test is missing.' } },
  redeliverSink: { request: { sink: 'github' } },
  openSession: { request: { token: 'your token' } },
};

const EXAMPLES_BY_NAME: Readonly<Record<string, unknown>> = {
  id: '01K9ZC4QZ8D1V1Y3M0S7G2T5XA',
  run: '01K9ZC4QZ8D1V1Y3M0S7G2T5XA',
  run_id: '2026-11-15-backend-0001',
  active_run_id: '2026-11-15-backend-0001',
  issue_ref: 'acme/shop#12',
  engine: 'codex',
  worker: 'codex-cli',
  worker_type: 'codex-cli',
  worker_id: '01K9ZC4QZ8D1V1Y3M0S7G2T5XB',
  role: 'backend',
  host: 'build-1',
  version: '0.1.0',
  workdir: '/srv/work/shop',
  repo_dir: '/srv/work/shop',
  prompt: 'Find the worst bug in src/.',
  instructions: 'Reject orders with a negative quantity.',
  path: 'src/orders.ts',
  sink: 'github',
  reason: 'The tests did not run.',
  next: 'Read the result, then accept, reject or retry.',
  summary: 'Rejects negative quantities.',
  message: 'What happened, and what to do.',
  type: 'urn:sluice:problem:RUN_NOT_FOUND',
  title: 'Run not found',
  detail: 'Run not found. GET /v1/runs lists all runs.',
  code: 'RUN_NOT_FOUND',
  request_id: '8f3b2c1d4e5f-1',
  status: 404,
};

/** The maximum depth of examples; no schema is nested that deeply. */
const MAX_DEPTH = 12;

export function findExample(endpoint: EndpointName, part: 'request' | 'response', schema: object): unknown {
  return HANDWRITTEN[endpoint]?.[part] ?? sampleSchema(schema as AnySchema);
}

/** Generates a value that matches a schema: only required fields, and the first of multiple alternatives. */
export function sampleSchema(schema: AnySchema, name = '', depth = 0): unknown {
  const { const: constant, enum: choices, anyOf, type, pattern, minimum, exclusiveMinimum } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(choices)) return choices[0] as unknown;
  if (Array.isArray(anyOf)) return sampleSchema(anyOf[0] as AnySchema, name, depth);
  const [kind] = Array.isArray(type) ? (type as unknown[]) : [type];
  const example = EXAMPLES_BY_NAME[name];
  if (typeof example === kind || (kind === 'integer' && typeof example === 'number')) return example;
  switch (kind) {
    case 'object':
      return sampleObject(schema, depth);
    case 'array':
      return depth < MAX_DEPTH && typeof schema['items'] === 'object'
        ? [sampleSchema(schema['items'] as AnySchema, name.replace(/s$/, ''), depth + 1)]
        : [];
    case 'string':
      return sampleString(pattern);
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 0;
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function sampleObject({ properties = {}, required = [] }: AnySchema, depth: number): object {
  if (depth >= MAX_DEPTH) return {};
  const names = required as readonly string[];
  const shapes = properties as Readonly<Record<string, AnySchema>>;
  return Object.fromEntries(names.map((name) => [name, sampleSchema(shapes[name] ?? {}, name, depth + 1)]));
}

/** Returns a string that matches a pattern. The API uses patterns only for times, hashes and names. */
function sampleString(pattern: unknown): string {
  const samples = ['text', '2026-11-15T08:00:00.000Z', '2026-11-15-backend-0001', '0'.repeat(64), 'acme/shop#12'];
  if (typeof pattern !== 'string') return 'text';
  return samples.find((sample) => new RegExp(pattern, 'u').test(sample)) ?? 'text';
}

import {
  WORK_REQUEST_SCHEMA,
  changeSchema,
  evidenceSchema,
  executionSchema,
  issueSchema,
  orderRecordSchema,
  outboxMessageSchema,
  permissionChoiceSchema,
  raceSchema,
  runFailureSchema,
  runResultSchema,
  sinkStateSchema,
  storedRunSpec,
  workResult,
  workerSchema,
} from '../../records/index.js';
import { runFilesSchema } from '../shapes/files.js';
import { offerSchema } from '../shapes/offer.js';
import {
  commentPreviewSchema,
  inboxAnswerSchema,
  issueDetailSchema,
  orderSchema,
  resolveRequestSchema,
  submittedOrderSchema,
} from '../shapes/order.js';
import { parseAnswerSchema, parseRequestSchema } from '../shapes/parse.js';
import { problemSchema } from '../shapes/problem.js';
import { runRequestSchema, runSchema, runSummarySchema } from '../shapes/run.js';
import { sessionSchema } from '../shapes/session.js';
import { statisticsSchema } from '../shapes/statistics.js';
import { waitingSchema } from '../shapes/waiting.js';

/** A JSON Schema, with any keyword. */
export type AnySchema = Readonly<Record<string, unknown>>;

/** The schemas that have a name in the document, wherever they stand. Others are written where they are used. */
function listNamed(): readonly (readonly [string, AnySchema])[] {
  const named = {
    Change: changeSchema,
    CommentPreview: commentPreviewSchema,
    Decision: orderRecordSchema.properties.decision.anyOf[0],
    Evidence: evidenceSchema,
    Execution: executionSchema,
    InboxItem: inboxAnswerSchema,
    Issue: issueSchema,
    IssueDetail: issueDetailSchema,
    Offer: offerSchema,
    Order: orderSchema,
    OutboxMessage: outboxMessageSchema,
    ParseRequest: parseRequestSchema,
    ParseResult: parseAnswerSchema,
    PermissionChoice: permissionChoiceSchema,
    Problem: problemSchema,
    Race: raceSchema,
    Resolution: resolveRequestSchema,
    Run: runSchema,
    RunFailure: runFailureSchema,
    RunFiles: runFilesSchema,
    RunRequest: runRequestSchema,
    RunResult: runResultSchema,
    RunSpec: storedRunSpec,
    RunSummary: runSummarySchema,
    Session: sessionSchema,
    Sink: sinkStateSchema,
    Statistics: statisticsSchema,
    SubmittedOrder: submittedOrderSchema,
    Usage: runResultSchema.properties.usage,
    Waiting: waitingSchema,
    WorkRequest: WORK_REQUEST_SCHEMA,
    WorkResult: workResult,
    Worker: workerSchema,
  };
  return Object.entries<object>(named).map(([name, schema]) => [name, schema as AnySchema] as const);
}

/** Collects the schemas of a document under their names. */
export interface Components {
  /** The schema, or a reference to it where it has a name. Anything else without a name gets `otherwise`, if that is given. */
  readonly refer: (schema: object, otherwise?: string) => AnySchema;
  /** All that were referred to, by name. */
  readonly schemas: Readonly<Record<string, AnySchema>>;
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = new Set(['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains']);
const LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const BY_NAME = new Set(['properties', 'patternProperties', '$defs']);

/** A separate `$id` would make references inside of it relative to that. */
const LEFT_OUT = new Set(['$id', '$schema']);

/** The shapes on the wire are composed of each other, so the same object is the same schema. */
export function createComponents(): Components {
  const names = new Map(listNamed().map(([name, schema]) => [schema, name]));
  const schemas: Record<string, AnySchema> = {};

  function refer(schema: object, otherwise?: string): AnySchema {
    const name = names.get(schema as AnySchema) ?? otherwise;
    if (name === undefined) return rewrite(schema as AnySchema);
    if (schemas[name] === undefined) {
      names.set(schema as AnySchema, name);
      // Its place is taken before it is rewritten: a schema that contains itself ends here.
      schemas[name] = {};
      schemas[name] = rewrite(schema as AnySchema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function rewrite(schema: AnySchema): AnySchema {
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([key]) => !LEFT_OUT.has(key))
        .map(([key, value]) => [key, rewriteKeyword(key, value)]),
    );
  }

  function rewriteKeyword(key: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (ONE.has(key)) return refer(value);
    if (LIST.has(key) && Array.isArray(value)) return value.map((part: object) => refer(part));
    if (!BY_NAME.has(key)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, refer(part as object)]));
  }

  return { refer, schemas };
}

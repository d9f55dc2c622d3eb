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
} from '../../../store/records/index.js';
import {
  runFilesSchema,
  offerSchema,
  parseResponseSchema,
  parseRequestSchema,
  runRequestSchema,
  runSchema,
  runSummarySchema,
} from '../shapes/run.js';
import {
  commentPreviewSchema,
  inboxResponseSchema,
  issueDetailSchema,
  orderSchema,
  resolveRequestSchema,
  submittedOrderSchema,
  waitingSchema,
} from '../shapes/order.js';
import { problemSchema, sessionSchema, statisticsSchema } from '../shapes/service.js';

/** A JSON Schema with any keywords. */
export type AnySchema = Readonly<Record<string, unknown>>;

/** Lists the schemas that have a name in the document. All others are inlined. */
function listNamedSchemas(): readonly (readonly [string, AnySchema])[] {
  const namedSchemas = {
    Change: changeSchema,
    CommentPreview: commentPreviewSchema,
    Decision: orderRecordSchema.properties.decision.anyOf[0],
    Evidence: evidenceSchema,
    Execution: executionSchema,
    InboxItem: inboxResponseSchema,
    Issue: issueSchema,
    IssueDetail: issueDetailSchema,
    Offer: offerSchema,
    Order: orderSchema,
    OutboxMessage: outboxMessageSchema,
    ParseRequest: parseRequestSchema,
    ParseResult: parseResponseSchema,
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
  return Object.entries<object>(namedSchemas).map(([name, schema]) => [name, schema as AnySchema] as const);
}

/** Collects a document's schemas by name. */
export interface Components {
  /** Returns the schema, or a reference to it if it has a name. A schema without a name gets `fallbackName`, if given. */
  readonly toReference: (schema: object, fallbackName?: string) => AnySchema;
  /** All referenced schemas, by name. */
  readonly schemas: Readonly<Record<string, AnySchema>>;
}

/** Keywords whose value is a schema. */
const SCHEMA_KEYWORDS = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'contains',
]);
/** Keywords whose value is a list of schemas. */
const LIST_KEYWORDS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
/** Keywords whose value is an object with schemas as members. */
const OBJECT_KEYWORDS = new Set(['properties', 'patternProperties', '$defs']);

/** Omitted, because a nested `$id` would change the base URI of the references inside it. */
const OMITTED_KEYWORDS = new Set(['$id', '$schema']);

/** Creates an empty collection. Shapes are composed of each other, so a schema is recognised by object identity. */
export function createComponents(): Components {
  const names = new Map(listNamedSchemas().map(([name, schema]) => [schema, name]));
  const schemas: Record<string, AnySchema> = {};

  function toReference(schema: object, fallbackName?: string): AnySchema {
    const name = names.get(schema as AnySchema) ?? fallbackName;
    if (name === undefined) return rewrite(schema as AnySchema);
    if (schemas[name] === undefined) {
      names.set(schema as AnySchema, name);
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
    if (SCHEMA_KEYWORDS.has(key)) return toReference(value);
    if (LIST_KEYWORDS.has(key) && Array.isArray(value)) return value.map((part: object) => toReference(part));
    if (!OBJECT_KEYWORDS.has(key)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toReference(part as object)]));
  }

  return { toReference, schemas };
}

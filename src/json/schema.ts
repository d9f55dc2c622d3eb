import { SluiceError } from '../base/index.js';
import { isContainer, serialize } from './limits.js';
import type { Path } from './repair.js';

/**
 * The subset of the Standard Schema interface (version 1) that Sluice uses, spelled out so this layer needs no
 * dependency. zod, valibot, arktype and `fromJsonSchema` all provide it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a Standard Schema's validation: the value, or the issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One validation issue, with its location in the value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The output type of a schema: `InferOutput<typeof schema>`. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** One issue found by a schema. Its path consists of plain keys and indexes. */
export interface SchemaIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** One change the aligner made to match the schema's shape. */
export interface AlignmentChange {
  readonly path: Path;
  readonly rule: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** An aligned value and the changes that led to it. */
export interface Alignment {
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
}

/** The input that a value was read from, for facts that the aligner cannot see in the value itself. */
export interface AlignmentSource {
  readonly text: string;
  /** Offsets of the value in the input. */
  readonly start: number;
  readonly end: number;
  /** The candidates in the input; `level` is the number of envelopes around a candidate. */
  readonly candidates: readonly {
    readonly finder: string;
    readonly level: number;
    readonly start: number;
    readonly end: number;
    readonly read: () => { readonly end: number } & (
      | { readonly ok: true; readonly value: unknown }
      | { readonly ok: false }
    );
  }[];
}

/** A schema that can also align, created by `fromJsonSchema` or `alignable` from `sluice/json-schema`. */
export interface AlignableSchema<Input = unknown, Output = Input> extends StandardSchema<Input, Output> {
  readonly '~sluice': {
    /** The JSON Schema it aligns to, to show to a model. */
    readonly jsonSchema?: object;
    readonly align: (value: unknown, source?: AlignmentSource) => Alignment;
    /** Reads input that is not JSON. Returns it unchanged unless exactly one valid value can be read from it. */
    readonly readText?: (text: string) => Alignment;
    /** Finds a candidate that could be another item of a valid list. Returns its offset, or undefined. */
    readonly findItem?: (list: unknown, candidates: AlignmentSource['candidates']) => number | undefined;
    /** The reason to reject a valid value: it is a template, or it leaves out items. */
    readonly findGap?: (
      value: unknown,
    ) => { readonly code: 'SCHEMA_MISMATCH' | 'TRUNCATED'; readonly message: string } | undefined;
    /** Whether a value at the end of truncated input could have continued as a different valid value. */
    readonly mayGrow?: (value: unknown, text: string) => boolean;
    /** The issues of a finished part, before the rest of the value has arrived. */
    readonly checkPart: (path: Path, value: unknown) => readonly SchemaIssue[];
  };
}

/** The part of a schema that aligns values. */
export type Aligner = AlignableSchema['~sluice'];

/** Throws if the schema cannot validate: a plain JSON Schema, or options passed as the schema. */
export function checkSchema(schema: StandardSchema | undefined): void {
  if (schema === undefined) return;
  const given = schema as Partial<StandardSchema> | null;
  if (typeof given?.['~standard']?.validate === 'function') return;
  throw new SluiceError(
    'INVALID_SCHEMA',
    'Not a Standard Schema. Wrap a JSON Schema in fromJsonSchema; options are the third argument.',
  );
}

/** Returns the alignment functions of a schema; throws if it does not support alignment, which `option` requires. */
export function requireAlignment(
  schema: StandardSchema | undefined,
  option: string,
  code: 'ALIGN_UNSUPPORTED' | 'PARTIAL_UNSUPPORTED',
): Aligner {
  const { '~sluice': aligner } = (schema ?? {}) as Partial<AlignableSchema>;
  if (aligner) return aligner;
  throw new SluiceError(code, `${option} requires a schema from fromJsonSchema or alignable (sluice/json-schema).`);
}

/** Returns the JSON Schema that a schema contains or can export, or undefined. */
export function findJsonSchema(schema: StandardSchema | undefined): JsonSchemaFields | undefined {
  try {
    const { '~standard': standard, '~sluice': own } = schema as DescribedSchema;
    return own?.jsonSchema ?? standard.jsonSchema?.input({ target: 'draft-2020-12' });
  } catch {
    return undefined;
  }
}

/** The properties that can hold a schema's JSON Schema: Sluice's own, and Standard JSON Schema's (zod, arktype). */
interface DescribedSchema extends StandardSchema {
  readonly '~standard': StandardSchema['~standard'] & {
    readonly jsonSchema?: { readonly input: (options: object) => object };
  };
  readonly '~sluice'?: { readonly jsonSchema?: object };
}

/** The fields of a JSON Schema that are looked at. */
interface JsonSchemaFields {
  readonly type?: unknown;
  readonly properties?: unknown;
}

/**
 * Whether a value is the caller's own JSON Schema, which models repeat instead of an answer, often
 * abridged. If the schema describes schemas, only an exact copy is one.
 */
export function isEcho(value: unknown, schema: StandardSchema | undefined): boolean {
  if (!schema || !isContainer(value) || !isContainer(value['properties'])) return false;
  const { properties } = value;
  const own = findJsonSchema(schema)?.properties;
  if (!isContainer(own) || Object.hasOwn(own, 'properties')) return serialize(own) === serialize(properties);
  return Object.entries(properties).every(([name, part]) => Object.hasOwn(own, name) && isContainer(part));
}

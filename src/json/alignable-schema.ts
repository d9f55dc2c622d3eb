import type { Path } from './repair.js';
import { SluiceError } from '../base/index.js';
import type { SchemaIssue, StandardSchema } from './standard-schema.js';

/** One change the aligner made to bring a value into the schema's shape. */
export interface AlignmentChange {
  readonly path: Path;
  readonly rule: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** An aligned value and every change that led to it. */
export interface Alignment {
  readonly value: unknown;
  readonly changes: readonly AlignmentChange[];
}

/** A schema that can also align: made by `fromJsonSchema` or `alignable` of `sluice/json-schema`. */
export interface AlignableSchema<Input = unknown, Output = Input> extends StandardSchema<Input, Output> {
  readonly '~sluice': {
    readonly align: (value: unknown) => Alignment;
    /** What speaks against a finished part of a value, at its place, before the rest has arrived. */
    readonly checkPart: (path: Path, value: unknown) => readonly SchemaIssue[];
  };
}

/** What the schema can do beyond validating; where it cannot, the option that asked for it is misuse. */
export function alignmentOf(
  schema: StandardSchema | undefined,
  option: string,
  code: 'ALIGN_UNSUPPORTED' | 'PARTIAL_UNSUPPORTED',
): AlignableSchema['~sluice'] {
  if (schema !== undefined && isAlignable(schema)) return schema['~sluice'];
  throw new SluiceError(code, `${option} needs a schema made by sluice/json-schema`);
}

function isAlignable(schema: StandardSchema): schema is AlignableSchema {
  return '~sluice' in schema;
}

import type { AlignableSchema, StandardResult } from '../json/index.js';
import { createAligner } from './align/create-aligner.js';
import type { ViewSource } from './align/alignment-view.js';
import { createViews } from './align/schema-views.js';
import { createPartCheck } from './check-part.js';
import type { SchemaChecks } from './interpreter/compile-schema.js';
import type { SchemaValidator } from './schema-validator.js';

/** Joins a validator and the aligner of the same document into the schema that `parse` takes. */
export function toAlignableSchema<T>(
  source: ViewSource,
  checks: SchemaChecks,
  validate: SchemaValidator,
  steps: number,
): AlignableSchema<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      // The caller names the type a JSON Schema describes; a schema given as data cannot.
      validate: validate as (value: unknown) => StandardResult<T>,
    },
    '~sluice': alignmentOf(source, checks, steps),
  };
}

/** What Sluice adds to a schema, made when it is first asked for: most schemas only validate. */
export function alignmentOf(source: ViewSource, checks: SchemaChecks, steps: number): AlignableSchema['~sluice'] {
  let made: AlignableSchema['~sluice'] | undefined;
  const get = (): AlignableSchema['~sluice'] => (made ??= makeAlignment(source, checks, steps));
  return { align: (value) => get().align(value), checkPart: (path, value) => get().checkPart(path, value) };
}

function makeAlignment(source: ViewSource, checks: SchemaChecks, steps: number): AlignableSchema['~sluice'] {
  const views = createViews(source, checks);
  return { align: createAligner(views, checks, steps), checkPart: createPartCheck(views, checks) };
}

/**
 * The part of the Standard Schema interface (version 1) that Sluice uses, written out so that this
 * floor needs no package. zod, valibot, arktype and `fromJsonSchema` all provide it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a Standard Schema answers: the value, or the issues that speak against it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One objection of a schema, with the place in the value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type a schema gives: `InferOutput<typeof schema>`. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** One objection of a schema as Sluice reports it, its path made of plain keys and indexes. */
export interface SchemaIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

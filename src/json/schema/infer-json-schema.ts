/**
 * The type of the values that a JSON Schema describes, as far as it can be inferred; otherwise `unknown` (references,
 * `not`, a schema that the compiler cannot see). TypeBox schemas of both generations are supported.
 *
 * @example
 * const schema = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] } as const
 * type Value = InferJsonSchema<typeof schema> // { line: number }
 */
export type InferJsonSchema<Schema> = Schema extends { readonly static: infer Value }
  ? Value
  : Schema extends false
    ? never
    : Schema extends { readonly const: infer Value }
      ? Value
      : Schema extends { readonly enum: readonly (infer Value)[] }
        ? Value
        : Schema extends { readonly anyOf: readonly (infer Choice)[] }
          ? InferJsonSchema<Choice>
          : Schema extends { readonly oneOf: readonly (infer Choice)[] }
            ? InferJsonSchema<Choice>
            : Schema extends { readonly allOf: readonly [infer First, ...infer Rest] }
              ? InferAll<First, Rest>
              : Schema extends { readonly type: infer Type }
                ? InferType<Schema, Type extends readonly (infer Name)[] ? Name : Type>
                : unknown;

type InferAll<First, Rest> = Rest extends readonly [infer Next, ...infer Others]
  ? InferJsonSchema<First> & InferAll<Next, Others>
  : InferJsonSchema<First>;

type InferType<Schema, Type> = InferNamed<Schema, Type> | (Schema extends { readonly nullable: true } ? null : never);

type InferNamed<Schema, Type> = Type extends 'string'
  ? string extends Type
    ? unknown
    : string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? InferArray<Schema>
          : Type extends 'object'
            ? InferObject<Schema>
            : unknown;

/** A list can be shorter than its `prefixItems`, so its type cannot be inferred from them. */
type InferArray<Schema> = Schema extends { readonly prefixItems: unknown }
  ? unknown[]
  : Schema extends { readonly items: infer Item }
    ? Item extends readonly unknown[]
      ? unknown[]
      : InferJsonSchema<Item>[]
    : unknown[];

type InferObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flatten<
      { [Key in RequiredKeys<Schema, Properties>]: InferJsonSchema<Properties[Key]> } & {
        [Key in Exclude<keyof Properties, RequiredKeys<Schema, Properties>>]?: InferJsonSchema<Properties[Key]>;
      }
    >
  : Schema extends { readonly additionalProperties: infer Rest }
    ? Record<string, InferJsonSchema<Rest>>
    : Record<string, unknown>;

type RequiredKeys<Schema, Properties> = Schema extends { readonly '~kind': 'Object' }
  ? {
      [Key in keyof Properties]: Properties[Key] extends { readonly '~optional': true } ? never : Key;
    }[keyof Properties]
  : Schema extends { readonly required: readonly (infer Name)[] }
    ? Extract<keyof Properties, Name>
    : never;

type Flatten<T> = { [Key in keyof T]: T[Key] };

declare const inferred: unique symbol;
/** The default type argument: the type that the schema describes. */
export type Inferred = typeof inferred;
/** The explicit type, or else the type that the schema describes. */
export type GivenOrInferred<T, Schema> = [T] extends [Inferred] ? InferJsonSchema<Schema> : T;

/**
 * The subset of JSON Schema (draft 2020-12) that describes the wire shapes. A shape is written once, as a schema; its
 * TypeScript type is derived from it by {@link FromSchema}, so the two cannot drift apart.
 */
export interface Schema {
  readonly type?: TypeName | readonly TypeName[];
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly description?: string;
}

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/**
 * The type of the values that a schema accepts.
 *
 * @example
 * const point = object({ x: { type: 'number' } }, { label: { type: 'string' } })
 * type Point = FromSchema<typeof point> // { readonly x: number; readonly label?: string }
 */
export type FromSchema<S extends Schema> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Choice)[] }
      ? Choice extends Schema
        ? FromSchema<Choice>
        : never
      : S extends { readonly type: TypeName | readonly TypeName[] }
        ? FromTypeName<S, S['type'] extends readonly (infer One)[] ? One : S['type']>
        : unknown;

type FromTypeName<S extends Schema, Name> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? S extends { readonly items: infer Items extends Schema }
            ? readonly FromSchema<Items>[]
            : readonly unknown[]
          : FromObject<S>;

type FromObject<S extends Schema> = S extends {
  readonly properties: infer Properties extends Readonly<Record<string, Schema>>;
  readonly required: readonly (infer Required)[];
}
  ? Flat<
      { readonly [Key in keyof Properties as Key extends Required ? Key : never]: FromSchema<Properties[Key]> } & {
        readonly [Key in keyof Properties as Key extends Required ? never : Key]?: FromSchema<Properties[Key]>;
      }
    >
  : S extends { readonly additionalProperties: infer Value extends Schema }
    ? Readonly<Record<string, FromSchema<Value>>>
    : Readonly<Record<string, unknown>>;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** A closed object: the keys of the first argument are required, those of the second are optional. */
export function object<
  const Required extends Readonly<Record<string, Schema>>,
  const Optional extends Readonly<Record<string, Schema>> = Record<never, Schema>,
>(required: Required, optional?: Optional): ObjectSchema<Required, Optional> {
  return {
    type: 'object',
    properties: { ...required, ...(optional ?? ({} as Optional)) },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

export interface ObjectSchema<
  Required extends Readonly<Record<string, Schema>>,
  Optional extends Readonly<Record<string, Schema>>,
> {
  readonly type: 'object';
  readonly properties: Required & Optional;
  readonly required: readonly (keyof Required & string)[];
  readonly additionalProperties: false;
}

export const text = { type: 'string' } as const;
export const name = { type: 'string', minLength: 1 } as const;
export const anything = {} as const;
/** A count, or an index that starts at 0. */
export const count = { type: 'integer', minimum: 0 } as const;
/** A position in a sequence that starts at 1. */
export const ordinal = { type: 'integer', minimum: 1 } as const;
/** A confidence from 0 (a guess) to 1 (read exactly). */
export const confidence = { type: 'number', minimum: 0, maximum: 1 } as const;
export const flag = { type: 'boolean' } as const;
/** A UTC time with milliseconds, as returned by `Date.prototype.toISOString`; only four-digit years. */
export const timestamp = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' } as const;

export function oneOf<const Words extends readonly string[]>(words: Words): { readonly enum: Words } {
  return { enum: words };
}

/** A value that can be null, for example because it is not known yet. */
export function orNull<const One extends Schema>(
  schema: One,
): { readonly anyOf: readonly [One, { readonly type: 'null' }] } {
  return { anyOf: [schema, { type: 'null' }] };
}

export function arrayOf<const Item extends Schema>(items: Item): { readonly type: 'array'; readonly items: Item } {
  return { type: 'array', items };
}

/** Returns the keys of a constant table with their literal types. */
export function listKeys<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}

import { SluiceError } from '../../base/index.js';
import type { StandardSchema } from '../index.js';
import { isJsonObject } from './json-schema.js';

/** A part that a library cannot express as JSON Schema accepts anything: the schema itself validates it. */
const LENIENT = { unrepresentable: 'any', errorMode: 'ignore' };

/** Libraries that export JSON Schema through a package function, with its name and options. */
const PACKAGES: Readonly<Record<string, { readonly name: string; readonly path: readonly string[]; options: object }>> =
  {
    valibot: {
      name: '@valibot/to-json-schema',
      path: ['toJsonSchema'],
      options: { ...LENIENT, target: 'draft-2020-12', typeMode: 'input' },
    },
    // zod mini has no methods.
    zod: { name: 'zod', path: ['toJSONSchema'], options: { ...LENIENT, io: 'input' } },
    effect: { name: 'effect', path: ['JSONSchema', 'make'], options: {} },
  };

/**
 * Exports the JSON Schema of a schema's input through its library: through Standard JSON Schema (zod, arktype), a
 * method, or a package function (valibot, zod mini, Effect). zod 3 schemas are converted here.
 */
export function exportJsonSchema(schema: StandardSchema): unknown {
  const standard: object = schema['~standard'];
  const { vendor } = schema['~standard'];
  const converter =
    'jsonSchema' in standard && isJsonObject(standard.jsonSchema) ? standard.jsonSchema['input'] : undefined;
  if (typeof converter === 'function') {
    return Reflect.apply(converter, standard, [{ target: 'draft-2020-12', libraryOptions: LENIENT }]);
  }
  if (vendor === 'zod' && isZod3(schema)) return exportZod3(schema);
  const method: unknown = Reflect.get(schema, 'toJsonSchema');
  if (typeof method === 'function') return Reflect.apply(method, schema, []);
  if (Object.hasOwn(PACKAGES, vendor)) return exportWithPackage(schema, vendor);
  throw new SluiceError(
    'ALIGN_UNSUPPORTED',
    `A ${vendor} schema has no JSON Schema export. Pass its JSON Schema as the second argument of alignable.`,
  );
}

/**
 * Loads the package through Node.js on demand. On other platforms, or if it is not installed, the error explains what
 * to do.
 */
function exportWithPackage(schema: StandardSchema, vendor: string): unknown {
  const { name = '', path = [], options = {} } = PACKAGES[vendor] ?? {};
  let exportSchema: unknown;
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    exportSchema = path.reduce<unknown>(readMember, createRequire(import.meta.url)(name));
    if (typeof exportSchema !== 'function') throw new Error(`${name} has no ${path.join('.')}`);
  } catch (cause) {
    throw new SluiceError(
      'ALIGN_UNSUPPORTED',
      `Cannot load the JSON Schema export of the ${name} package. Install it, or pass the JSON Schema as the second argument of alignable.`,
      { cause },
    );
  }
  return Reflect.apply(exportSchema, undefined, [schema, options]);
}

function readMember(module: unknown, name: string): unknown {
  return (typeof module === 'object' || typeof module === 'function') && module !== null
    ? Reflect.get(module, name)
    : undefined;
}

/** Maximum nesting that is converted; deeper schemas accept anything. */
const MAX_DEPTH = 64;

/** Recursive schemas: converted once, referenced everywhere else. */
type Definitions = Map<unknown, { readonly name: string; schema: object }>;

/** Whether a schema was created with zod 3, which has no JSON Schema export. */
function isZod3(schema: unknown): boolean {
  return typeof readDefinition(schema)['typeName'] === 'string';
}

/**
 * Converts the input of a zod 3 schema to JSON Schema. Parts that it cannot express (refinements, transforms, classes) accept
 * anything: the schema itself validates the result.
 */
function exportZod3(schema: unknown): object {
  const definitions: Definitions = new Map();
  const root = convert(schema, definitions, 0);
  const $defs = Object.fromEntries(Array.from(definitions.values(), (item) => [item.name, item.schema]));
  return definitions.size === 0 ? root : { allOf: [root], $defs };
}

/** A definition of zod 3: its fields. */
type Definition = Readonly<Record<string, unknown>>;
/** Converts the schema in a field, or the schemas in a list. */
interface Converter {
  readonly inner: (key: string) => object;
  readonly all: (schemas: unknown) => object[];
}

const innerType = (_: Definition, { inner }: Converter): object => inner('innerType');
/** The converters by type; a type without one accepts anything. */
const CONVERTERS: Readonly<Record<string, (definition: Definition, converter: Converter) => object>> = {
  ZodString: (definition) => ({ type: 'string', ...readChecks(definition, STRING_CHECKS), ...readFormat(definition) }),
  ZodNumber: (definition) => ({
    type: listChecks(definition).some(({ kind }) => kind === 'int') ? 'integer' : 'number',
    ...readChecks(definition, NUMBER_CHECKS),
  }),
  ZodBoolean: () => ({ type: 'boolean' }),
  ZodNull: () => ({ type: 'null' }),
  ZodNever: () => ({ not: {} }),
  ZodLiteral: ({ value }) => ({ const: value }),
  ZodEnum: ({ values }) => convertEnum(values),
  ZodNativeEnum: ({ values }) => convertEnum(readMembers(values)),
  ZodArray: (_, { inner }) => ({ type: 'array', items: inner('type') }),
  ZodTuple: ({ items }, { all }) => {
    const prefixItems = all(items);
    // JSON Schema does not allow an empty `prefixItems`.
    return { type: 'array', ...(prefixItems.length > 0 && { prefixItems }) };
  },
  ZodRecord: (_, { inner }) => ({ type: 'object', additionalProperties: inner('valueType') }),
  ZodUnion: ({ options }, { all }) => ({ anyOf: all(options) }),
  ZodDiscriminatedUnion: ({ options }, { all }) => ({
    anyOf: all(options instanceof Map ? [...options.values()] : options),
  }),
  ZodIntersection: (_, { inner }) => ({ allOf: [inner('left'), inner('right')] }),
  ZodNullable: (_, { inner }) => ({ anyOf: [inner('innerType'), { type: 'null' }] }),
  ZodOptional: innerType,
  ZodDefault: innerType,
  ZodCatch: innerType,
  ZodReadonly: innerType,
  ZodBranded: (_, { inner }) => inner('type'),
  ZodEffects: (_, { inner }) => inner('schema'),
  ZodPipeline: (_, { inner }) => inner('in'),
};

function convert(schema: unknown, definitions: Definitions, depth: number): object {
  const definition = readDefinition(schema);
  const { typeName, getter } = definition;
  if (depth > MAX_DEPTH) return {};
  if (typeName === 'ZodLazy') return convertLazy(schema, getter, definitions);
  if (typeName === 'ZodObject') return convertObject(definition, definitions, depth);
  const convertPart = (part: unknown): object => convert(part, definitions, depth + 1);
  const converter: Converter = {
    inner: (key) => convertPart(definition[key]),
    all: (schemas) => (Array.isArray(schemas) ? schemas.map(convertPart) : []),
  };
  return CONVERTERS[String(typeName)]?.(definition, converter) ?? {};
}

function convertLazy(schema: unknown, getter: unknown, definitions: Definitions): object {
  const known = definitions.get(schema);
  const definition = known ?? { name: `lazy${definitions.size}`, schema: {} };
  definitions.set(schema, definition);
  if (known === undefined && typeof getter === 'function')
    definition.schema = convert(Reflect.apply(getter, undefined, []), definitions, 0);
  return { $ref: `#/$defs/${definition.name}` };
}

function convertObject(definition: Definition, definitions: Definitions, depth: number): object {
  const getShape = definition['shape'];
  const shape: unknown = typeof getShape === 'function' ? Reflect.apply(getShape, undefined, []) : getShape;
  const entries = isJsonObject(shape) ? Object.entries(shape) : [];
  const properties = Object.fromEntries(entries.map(([key, schema]) => [key, convert(schema, definitions, depth + 1)]));
  const required = entries.filter(([, schema]) => !canBeAbsent(schema)).map(([key]) => key);
  const isClosed = definition['unknownKeys'] === 'strict';
  return { type: 'object', properties, required, ...(isClosed ? { additionalProperties: false } : {}) };
}

function canBeAbsent(schema: unknown): boolean {
  const test: unknown = typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'isOptional') : undefined;
  return typeof test === 'function' && Reflect.apply(test, schema, []) === true;
}

const STRING_CHECKS: Readonly<Record<string, string>> = { min: 'minLength', max: 'maxLength' };
const NUMBER_CHECKS: Readonly<Record<string, string>> = { min: 'minimum', max: 'maximum', multipleOf: 'multipleOf' };
const FORMATS: Readonly<Record<string, string>> = { email: 'email', uuid: 'uuid', date: 'date', datetime: 'date-time' };

function listChecks({ checks }: Definition): readonly Definition[] {
  return Array.isArray(checks) ? checks.filter(isJsonObject) : [];
}

function readChecks(definition: Definition, keywords: Readonly<Record<string, string>>): object {
  const entries = listChecks(definition).flatMap(({ kind, inclusive, value }) => {
    const keyword = keywords[String(kind)];
    // An exclusive bound is left to the schema itself.
    return keyword === undefined || inclusive === false ? [] : [[keyword, value] as const];
  });
  return Object.fromEntries(entries);
}

function readFormat(definition: Definition): object {
  const [format] = listChecks(definition).flatMap(({ kind }) => FORMATS[String(kind)] ?? []);
  return format === undefined ? {} : { format };
}

/** JSON Schema does not allow an empty `enum`. */
function convertEnum(values: unknown): object {
  return Array.isArray(values) && values.length === 0 ? { not: {} } : { enum: values };
}

/** TypeScript writes the members of a numeric enum in both directions. */
function readMembers(values: unknown): unknown[] {
  if (!isJsonObject(values)) return [];
  return Object.keys(values)
    .filter((key) => typeof values[String(values[key])] !== 'number')
    .map((key) => values[key]);
}

function readDefinition(schema: unknown): Definition {
  const definition: unknown = typeof schema === 'object' && schema !== null ? Reflect.get(schema, '_def') : undefined;
  return isJsonObject(definition) ? definition : {};
}

import { SluiceError } from '../../base/index.js';
import type { StandardSchema } from '../index.js';
import { isJsonObject } from './json-schema.js';
import { exportZod3, isZod3 } from './zod3-json-schema.js';

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
  let convert: unknown;
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    convert = path.reduce<unknown>(readMember, createRequire(import.meta.url)(name));
    if (typeof convert !== 'function') throw new Error(`${name} has no ${path.join('.')}`);
  } catch (cause) {
    throw new SluiceError(
      'ALIGN_UNSUPPORTED',
      `Cannot load the JSON Schema export of the ${name} package. Install it, or pass the JSON Schema as the second argument of alignable.`,
      { cause },
    );
  }
  return Reflect.apply(convert, undefined, [schema, options]);
}

function readMember(module: unknown, name: string): unknown {
  return (typeof module === 'object' || typeof module === 'function') && module !== null
    ? Reflect.get(module, name)
    : undefined;
}

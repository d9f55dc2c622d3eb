import { SluiceError } from '../base/index.js';
import type { StandardSchema } from '../json/index.js';
import { isJsonObject } from './json-schema.js';

const VALIBOT_PACKAGE = '@valibot/to-json-schema';

/** What a library cannot write as JSON Schema is left open: the schema itself validates it. */
const LENIENT = { unrepresentable: 'any', errorMode: 'ignore' };

/**
 * The JSON Schema of what a schema accepts, written by its own library: through Standard JSON Schema (zod, arktype),
 * through valibot's package, or through a method of that name.
 */
export function exportJsonSchema(schema: StandardSchema): unknown {
  const standard: object = schema['~standard'];
  const converter =
    'jsonSchema' in standard && isJsonObject(standard.jsonSchema) ? standard.jsonSchema['input'] : undefined;
  if (typeof converter === 'function') {
    return Reflect.apply(converter, standard, [{ target: 'draft-2020-12', libraryOptions: LENIENT }]);
  }
  if (schema['~standard'].vendor === 'valibot')
    return loadValibotExport()(schema, { ...LENIENT, target: 'draft-2020-12', typeMode: 'input' });
  const method: unknown = Reflect.get(schema, 'toJsonSchema');
  if (typeof method === 'function') return Reflect.apply(method, schema, []);
  throw new SluiceError(
    'ALIGN_UNSUPPORTED',
    `a schema of ${schema['~standard'].vendor} has no JSON Schema export; write its JSON Schema and use fromJsonSchema`,
  );
}

type ValibotExport = (schema: unknown, options: object) => unknown;

/**
 * valibot keeps its export in a separate package. It is loaded through Node.js when it is needed; elsewhere, and
 * where it is not installed, the error says what to do.
 */
function loadValibotExport(): ValibotExport {
  try {
    const { createRequire } = process.getBuiltinModule('node:module');
    const loaded: unknown = createRequire(import.meta.url)(VALIBOT_PACKAGE);
    if (isJsonObject(loaded) && typeof loaded['toJsonSchema'] === 'function')
      return loaded['toJsonSchema'] as ValibotExport;
    throw new Error(`${VALIBOT_PACKAGE} has no toJsonSchema`);
  } catch (cause) {
    throw new SluiceError(
      'ALIGN_UNSUPPORTED',
      `aligning to a valibot schema needs the package ${VALIBOT_PACKAGE}: install it, or in a browser pass toStandardJsonSchema(schema) of that package`,
      { cause },
    );
  }
}

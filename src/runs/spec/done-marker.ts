import { isJsonObject, getOwnValue } from '../../json/schema/index.js';
import { toJsonSchema, type ContractSchema } from './contract-schema.js';

/** The result property an agent sets to report that it has finished. */
export const DONE_MARKER = '__SKILL_DONE__';

/** The marker used by old agents. */
const OLD_MARKER = '__skill_done__';

/** Deeper schemas are not searched. */
const MAX_DEPTH = 16;

/** Limits the search, against schemas crafted to be slow. */
const MAX_SCHEMAS = 1000;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Strips the marker from the top of a value, unless the schema declares it as a property. Applied before the value is
 * validated.
 *
 * @example
 * stripDoneMarker({ answer: 7, __SKILL_DONE__: true }, schema) // { answer: 7 }
 */
export function stripDoneMarker(value: unknown, schema?: ContractSchema): unknown {
  if (!isJsonObject(value) || !(Object.hasOwn(value, DONE_MARKER) || Object.hasOwn(value, OLD_MARKER))) return value;
  if (declaresDoneMarker(toJsonSchema(schema))) return value;
  const { [DONE_MARKER]: _marker, [OLD_MARKER]: _oldMarker, ...rest } = value;
  return rest;
}

/** Whether a JSON Schema declares the marker as a top-level property. */
export function declaresDoneMarker(root: JsonObject | undefined): boolean {
  if (root === undefined) return false;
  let seen = 0;
  const declares = (node: unknown, depth: number): boolean => {
    seen += 1;
    if (!isJsonObject(node) || depth > MAX_DEPTH || seen > MAX_SCHEMAS) return false;
    const properties = getOwnValue(node, 'properties');
    const required = getOwnValue(node, 'required');
    if (isJsonObject(properties) && Object.hasOwn(properties, DONE_MARKER)) return true;
    if (Array.isArray(required) && required.includes(DONE_MARKER)) return true;
    return listSubschemas(node, root).some((part) => declares(part, depth + 1));
  };
  return declares(root, 0);
}

/** Returns the subschemas that apply to the same value. */
function listSubschemas(node: JsonObject, root: JsonObject): unknown[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => {
    const list = getOwnValue(node, keyword);
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  const singles = ['if', 'then', 'else'].map((keyword) => getOwnValue(node, keyword));
  return [...lists, ...singles, resolveReference(node, root)];
}

/** Resolves a `$ref` within the document. */
function resolveReference(node: JsonObject, root: JsonObject): unknown {
  const reference = getOwnValue(node, '$ref');
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  let target: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    target = isJsonObject(target) ? getOwnValue(target, key) : undefined;
  }
  return target;
}

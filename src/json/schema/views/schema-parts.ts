import { isJsonObject } from '../json-schema.js';
import type { SchemaNode, SchemaObject } from '../json-schema.js';
import { KEYWORD_SHAPES } from '../schema-keywords.js';
import type { SchemaDocument } from '../schema-references.js';
import { listNames } from '../text/choices.js';
import type { Choice } from '../text/choices.js';
import { foldCase } from '../text/spelling.js';

/**
 * Maximum number of schema objects in a view, which combines the schemas that apply to one value. A view only guides
 * the alignment; the complete schema determines whether a value is valid.
 */
export const MAX_PARTS = 64;

/** Collects the schema objects that apply together: these, and those reached through references and `allOf`. */
export function collectParts(document: SchemaDocument, nodes: readonly SchemaNode[]): readonly SchemaObject[] {
  const parts = new Set<SchemaObject>();
  const waiting: SchemaNode[] = [...nodes].toReversed();
  for (let node = waiting.pop(); node !== undefined && parts.size < MAX_PARTS; node = waiting.pop()) {
    if (typeof node === 'boolean' || parts.has(node)) continue;
    parts.add(node);
    for (const inner of readSchemas(node['allOf']).slice(0, MAX_PARTS).toReversed()) waiting.push(inner);
    for (const keyword of ['$dynamicRef', '$ref']) {
      const reference = node[keyword];
      if (typeof reference === 'string') waiting.push(document.resolve(reference, node, '#').node);
    }
  }
  return [...parts];
}

/**
 * Turns each schema into an alternative, but combines all constants into one: many libraries write an enum as a list of
 * constants.
 */
export function toAlternatives(schemas: readonly SchemaNode[]): (readonly SchemaNode[])[] {
  const constants = schemas.filter(isConstant);
  if (constants.length < 2) return schemas.map((node) => [node]);
  return [constants, ...schemas.filter((node) => !isConstant(node)).map((node) => [node])];
}

/** Whether a schema only lists the allowed values. */
function isConstant(node: SchemaNode): boolean {
  if (typeof node === 'boolean' || !('const' in node || 'enum' in node)) return false;
  return Object.keys(node).every(
    (keyword) => ['const', 'enum', 'type'].includes(keyword) || !KEYWORD_SHAPES.has(keyword),
  );
}

/** Reads the values of the first enum or constant among the parts. */
export function readEnumMembers(parts: readonly SchemaObject[]): readonly Choice[] | undefined {
  for (const part of parts) {
    const title = typeof part['title'] === 'string' && 'const' in part ? [part['title']] : [];
    const members: unknown = 'const' in part ? [part['const']] : part['enum'];
    if (!Array.isArray(members)) continue;
    return members.map((value: unknown) => ({
      value,
      names: [...(typeof value === 'string' ? listNames(value) : []), ...title],
    }));
  }
  return undefined;
}

const FROM_0_TO_1 = /(?<![\d.])0(?:\.0+)?\s*(?:-|–|—|to|and|\.\.\.?|,)\s*1(?:\.0+)?(?![\d.%]*\d|\s*%)/i;

/** Whether a number is a fraction such as 0.85, by its maximum or its description. */
export function isFractionSchema(part: SchemaObject): boolean {
  if (typeof part['maximum'] === 'number') return part['maximum'] <= 1;
  return typeof part['description'] === 'string' && FROM_0_TO_1.test(part['description'].slice(0, 1000));
}

/** Collects all properties, each with every schema that describes it. */
export function collectProperties(parts: readonly SchemaObject[]): ReadonlyMap<string, readonly SchemaNode[]> {
  const properties = new Map<string, SchemaNode[]>();
  for (const part of parts) {
    if (!isJsonObject(part['properties'])) continue;
    for (const [name, node] of Object.entries(part['properties'])) {
      if (isSchema(node)) properties.set(name, [...(properties.get(name) ?? []), node]);
    }
  }
  return properties;
}

/** Collects the words of a key, and of its title and description: they can name a number's unit or currency. */
export function collectWords(key: string, parts: readonly SchemaObject[]): ReadonlySet<string> {
  const texts = [
    key.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' '),
    ...parts.flatMap((part) => [part['title'], part['description']]),
  ];
  return new Set(
    texts
      .filter((text) => typeof text === 'string')
      .flatMap((text) => foldCase(text.slice(0, 1000)).match(/[\p{L}°]+/gu) ?? []),
  );
}

/** Whether a value is a schema: an object or a boolean. */
export function isSchema(node: unknown): node is SchemaNode {
  return typeof node === 'boolean' || isJsonObject(node);
}

/** Reads a keyword whose value is a list of schemas. */
export function readSchemas(nodes: unknown): SchemaNode[] {
  return Array.isArray(nodes) ? nodes.filter(isSchema) : [];
}

/** Reads a keyword whose value is a list of names. */
export function readStrings(names: unknown): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

import { createSchemaError, isJsonObject, getOwnValue } from './json-schema.js';
import type { SchemaNode, SchemaObject } from './json-schema.js';
import { escapePointer, openEnvelope, readSchema } from './read-schema.js';
import type { SchemaBounds } from './read-schema.js';
import { KEYWORD_SHAPES } from './schema-keywords.js';

/** A schema inside a document, and its location. */
export interface LocatedSchema {
  readonly node: SchemaNode;
  readonly location: string;
}

/** A checked schema with an index of its `$id`s and anchors, which `$ref` needs. Nothing is ever fetched. */
export interface SchemaDocument {
  readonly root: LocatedSchema;
  /**
   * Finds the target of a `$ref` or `$dynamicRef` in `from`. Throws `INVALID_SCHEMA` if the document does not contain
   * it.
   */
  readonly resolve: (reference: string, from: SchemaObject, location: string) => LocatedSchema;
}

/** The base of relative references in a schema without `$id`. */
const BASE = 'https://schema.invalid/';

/** Reads and checks a schema, unwrapped from its envelope. Throws `INVALID_SCHEMA` with the location. */
export function readDocument(schema: unknown, bounds: SchemaBounds): SchemaDocument {
  return indexSchema(readSchema(openEnvelope(schema), '#', bounds), bounds);
}

/**
 * Indexes every `$id` and anchor of a schema.
 *
 * Dynamic references are followed like plain ones, which is exact while the document is a single resource; with
 * multiple resources a `$dynamicRef` is rejected rather than guessed.
 */
function indexSchema(root: SchemaNode, bounds: SchemaBounds): SchemaDocument {
  const targets = new Map<string, LocatedSchema>();
  const bases = new WeakMap<SchemaObject, string>();
  /** Schemas below unknown keywords, read only when a reference leads to them. */
  const deferredSchemas = new Map<unknown, LocatedSchema>();
  let resources = 1;
  targets.set(BASE, { node: root, location: '#' });
  index(root, BASE, '#');
  const resolved = new WeakMap<SchemaObject, Map<string, LocatedSchema>>();
  return { root: { node: root, location: '#' }, resolve: resolveOnce };

  /** Caches targets: parsing a URI costs more than everything else here, and the same references recur. */
  function resolveOnce(reference: string, from: SchemaObject, location: string): LocatedSchema {
    const known = resolved.get(from) ?? new Map<string, LocatedSchema>();
    resolved.set(from, known);
    const target = known.get(reference) ?? resolve(reference, from, location);
    known.set(reference, target);
    return target;
  }

  function index(node: SchemaNode, base: string, location: string): void {
    if (typeof node === 'boolean') return;
    const id = node['$id'];
    const ownBase = typeof id === 'string' ? withoutFragment(resolveUri(id, base, location)) : base;
    if (ownBase !== base) {
      if (location !== '#') resources += 1;
      targets.set(ownBase, { node, location });
    }
    bases.set(node, ownBase);
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = node[keyword];
      if (typeof anchor === 'string') targets.set(`${ownBase}#${anchor}`, { node, location });
    }
    for (const child of listChildSchemas(node, location)) index(child.node, ownBase, child.location);
  }

  function resolve(reference: string, from: SchemaObject, location: string): LocatedSchema {
    const uri = resolveUri(reference, bases.get(from) ?? BASE, location);
    const resource = targets.get(withoutFragment(uri));
    const fragment = decodeFragment(uri);
    const notFoundMessage = `${JSON.stringify(reference)} is not in this schema; references are never fetched; put the target under $defs`;
    if (resource === undefined) throw createSchemaError(location, notFoundMessage);
    if (fragment === '') return resource;
    if (!fragment.startsWith('/')) {
      const anchored = targets.get(`${withoutFragment(uri)}#${fragment}`);
      if (anchored === undefined) throw createSchemaError(location, notFoundMessage);
      if (resources > 1 && '$dynamicRef' in from) {
        throw createSchemaError(location, '$dynamicRef is not supported in a schema with several $id; use $ref');
      }
      return anchored;
    }
    let target: unknown = resource.node;
    for (const step of fragment.slice(1).split('/')) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      target = Array.isArray(target)
        ? target[Number(key)]
        : isJsonObject(target)
          ? getOwnValue(target, key)
          : undefined;
    }
    if (typeof target !== 'boolean' && !isJsonObject(target)) throw createSchemaError(location, notFoundMessage);
    return locate(target, `${resource.location}${fragment}`, withoutFragment(uri));
  }

  /** Reads the target as a schema if it is below an unknown keyword and has not been read yet. */
  function locate(target: SchemaNode, location: string, base: string): LocatedSchema {
    if (typeof target === 'boolean' || bases.has(target)) return { node: target, location };
    const known = deferredSchemas.get(target);
    if (known !== undefined) return known;
    const located: LocatedSchema = { node: readSchema(target, location, bounds), location };
    deferredSchemas.set(target, located);
    index(located.node, base, location);
    return located;
  }
}

/** Lists the schemas directly inside a schema object, under any keyword. */
export function listChildSchemas(node: SchemaObject, location: string): LocatedSchema[] {
  const children: LocatedSchema[] = [];
  for (const keyword of Object.keys(node)) {
    const shape = KEYWORD_SHAPES.get(keyword);
    const value = node[keyword];
    const pointer = `${location}/${escapePointer(keyword)}`;
    if (shape === 'schema') {
      pushSchema(children, value, pointer);
    } else if (shape === 'schemas' && Array.isArray(value)) {
      for (const [position, item] of value.entries()) pushSchema(children, item, `${pointer}/${position}`);
    } else if (shape === 'schemaMap' && isJsonObject(value)) {
      for (const key of Object.keys(value)) pushSchema(children, value[key], `${pointer}/${escapePointer(key)}`);
    }
  }
  return children;
}

function pushSchema(children: LocatedSchema[], node: unknown, location: string): void {
  if (typeof node === 'boolean' || isJsonObject(node)) children.push({ node, location });
}

function resolveUri(reference: string, base: string, location: string): string {
  try {
    return new URL(reference, base).href;
  } catch (cause) {
    throw createSchemaError(location, `${JSON.stringify(reference)} is not a URI reference`, cause);
  }
}

function withoutFragment(uri: string): string {
  const hash = uri.indexOf('#');
  return hash === -1 ? uri : uri.slice(0, hash);
}

function decodeFragment(uri: string): string {
  const hash = uri.indexOf('#');
  if (hash === -1) return '';
  const fragment = uri.slice(hash + 1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

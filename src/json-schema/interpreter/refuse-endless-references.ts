import { invalidSchema } from '../invalid-schema.js';
import { isJsonObject } from '../json-schema.js';
import type { SchemaObject } from '../json-schema.js';
import { childSchemas } from '../schema-references.js';
import type { LocatedSchema, SchemaDocument } from '../schema-references.js';

/** Keywords whose schemas are applied to the value itself, not to something inside it. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

/** Refuses a schema that needs itself to judge one and the same value, such as `{ "$ref": "#" }`. */
export function refuseEndlessReferences(document: SchemaDocument): void {
  const state = new Map<SchemaObject, 'open' | 'done'>();
  const reached: LocatedSchema[] = [document.root];
  const listed = new Set<SchemaObject>();
  for (let next = reached.pop(); next !== undefined; next = reached.pop()) {
    if (typeof next.node === 'boolean' || listed.has(next.node)) continue;
    listed.add(next.node);
    visit(next);
    for (const further of childSchemas(next.node, next.location)) reached.push(further);
    for (const further of references(next)) reached.push(further);
  }

  /** Depth first with a stack of its own: a chain of references may be longer than the call stack. */
  function visit(start: LocatedSchema): void {
    const stack: { readonly at: LocatedSchema; readonly rest: LocatedSchema[] }[] = [];
    open(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.rest.pop();
      if (next !== undefined) {
        open(next);
        continue;
      }
      if (typeof top.at.node !== 'boolean') state.set(top.at.node, 'done');
      stack.pop();
    }

    function open(at: LocatedSchema): void {
      if (typeof at.node === 'boolean' || state.get(at.node) === 'done') return;
      if (state.get(at.node) === 'open') {
        throw invalidSchema(at.location, 'this schema refers to itself without going deeper into the value');
      }
      state.set(at.node, 'open');
      stack.push({ at, rest: [...references(at), ...inPlaceSchemas(at)] });
    }
  }

  function references({ node, location }: LocatedSchema): LocatedSchema[] {
    if (typeof node === 'boolean') return [];
    return ['$ref', '$dynamicRef'].flatMap((keyword) => {
      const reference = node[keyword];
      return typeof reference === 'string' ? [document.resolve(reference, node, location)] : [];
    });
  }
}

function inPlaceSchemas({ node, location }: LocatedSchema): LocatedSchema[] {
  if (typeof node === 'boolean') return [];
  const inPlace: Record<string, unknown> = {};
  for (const keyword of IN_PLACE) if (keyword in node) inPlace[keyword] = node[keyword];
  if (isJsonObject(node['dependentSchemas'])) inPlace['dependentSchemas'] = node['dependentSchemas'];
  return childSchemas(inPlace, location);
}

import { isJsonObject } from '../json-schema.js';
import type { SchemaNode, SchemaObject } from '../json-schema.js';
import { typeNameOf, typesOf } from '../interpreter/value-checks.js';
import type { SchemaDocument } from '../schema-references.js';
import { indexChoices, namesOf } from './choice-index.js';
import type { ChoiceIndex } from './choice-index.js';
import { foldCase } from './fold-text.js';

/** Schemas that all apply to one value. */
export type Conjunction = readonly SchemaNode[];

/** What a schema says about the shape of a value, with references and `allOf` folded in. */
export interface AlignmentView {
  /** What decides in the end. */
  readonly nodes: Conjunction;
  /** The schema objects this view was made of. */
  readonly parts: readonly SchemaObject[];
  /** `anyOf` and `oneOf`, each a list of alternatives. */
  readonly groups: readonly (readonly SchemaNode[])[];
  /** The types that are due; empty if anything is. */
  readonly types: readonly string[];
  readonly values: readonly unknown[] | undefined;
  readonly isConstant: boolean;
  readonly properties: ReadonlyMap<string, Conjunction>;
  readonly required: ReadonlySet<string>;
  readonly isClosed: boolean;
  /** What applies to keys that `properties` does not name. */
  readonly rest: Conjunction;
  readonly hasPatterns: boolean;
  readonly prefix: readonly Conjunction[];
  readonly items: Conjunction;
  readonly format: string | undefined;
  readonly isShare: boolean;
  readonly words: ReadonlySet<string>;
  readonly choices: () => ChoiceIndex;
}

/** Follows references and `allOf`, which never end in a circle: such schemas are refused when they are compiled. */
function collectParts(document: SchemaDocument, node: SchemaNode, parts: SchemaObject[]): void {
  if (typeof node === 'boolean') return;
  parts.push(node);
  for (const keyword of ['$ref', '$dynamicRef']) {
    const reference = node[keyword];
    if (typeof reference === 'string') collectParts(document, document.resolve(reference, node, '#').node, parts);
  }
  for (const inner of schemasOf(node['allOf'])) collectParts(document, inner, parts);
}

/** The view of schemas that apply together; `key` is the name the value goes by. */
export function makeView(document: SchemaDocument, nodes: Conjunction, key: string): AlignmentView {
  const parts: SchemaObject[] = [];
  for (const node of nodes) collectParts(document, node, parts);
  const groups = parts
    .flatMap((part) => ['anyOf', 'oneOf'].map((keyword) => schemasOf(part[keyword])))
    .filter((group) => group.length > 0);
  return describe(nodes, parts, groups, wordsOfSchema(key, parts));
}

/** The view of one alternative of the first group, together with everything else the view says. */
export function chooseAlternative(
  document: SchemaDocument,
  view: AlignmentView,
  alternative: SchemaNode,
): AlignmentView {
  const chosen = makeView(document, [alternative], '');
  const words = new Set([...view.words, ...chosen.words]);
  return describe(
    [...view.nodes, alternative],
    [...view.parts, ...chosen.parts],
    [...chosen.groups, ...view.groups.slice(1)],
    words,
  );
}

/** The view narrowed to one of its types. */
export function chooseType(view: AlignmentView, type: string): AlignmentView {
  return { ...view, types: [type], values: view.values?.filter((value) => isOfType(value, type)) };
}

function describe(
  nodes: Conjunction,
  parts: readonly SchemaObject[],
  groups: readonly (readonly SchemaNode[])[],
  words: ReadonlySet<string>,
): AlignmentView {
  const properties = new Map<string, SchemaNode[]>();
  for (const part of parts) {
    if (!isJsonObject(part['properties'])) continue;
    for (const [name, node] of Object.entries(part['properties'])) {
      if (isSchema(node)) properties.set(name, [...(properties.get(name) ?? []), node]);
    }
  }
  const values = valuesOf(parts);
  let choices: ChoiceIndex | undefined;
  const prefixes = parts.map((part) => schemasOf(part['prefixItems']));
  const view = {
    nodes,
    parts,
    groups,
    values,
    isConstant: parts.some((part) => 'const' in part),
    properties,
    required: new Set(parts.flatMap((part) => stringsOf(part['required']))),
    isClosed: parts.some((part) => part['additionalProperties'] === false || part['unevaluatedProperties'] === false),
    rest: parts.flatMap((part) => schemaOf(part['additionalProperties'])),
    hasPatterns: parts.some((part) => 'patternProperties' in part),
    prefix: Array.from({ length: Math.max(0, ...prefixes.map((prefix) => prefix.length)) }, (_item, index) =>
      prefixes.flatMap((prefix) => prefix.slice(index, index + 1)),
    ),
    items: parts.flatMap((part) => schemaOf(part['items'])),
    format: parts.map((part) => part['format']).find((format) => typeof format === 'string'),
    isShare: parts.some((part) => typeof part['maximum'] === 'number' && part['maximum'] <= 1),
    words,
    choices: () =>
      (choices ??= indexChoices(
        (values ?? []).map((value) => ({ value, names: typeof value === 'string' ? namesOf(value) : [] })),
      )),
  };
  return { ...view, types: dueTypes(parts, view) };
}

/** The types named, or what the other keywords only make sense for. */
function dueTypes(parts: readonly SchemaObject[], view: Omit<AlignmentView, 'types'>): readonly string[] {
  const named = parts.map(typesOf).filter((types) => types.length > 0);
  const [first, ...others] = named;
  if (first !== undefined) {
    const types = others.reduce((common, other) => common.flatMap((type) => narrowest(type, other)), first);
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }
  if (view.values !== undefined) return [...new Set(view.values.map(typeNameOf))];
  if (view.groups.length > 0) return [];
  if (view.properties.size > 0 || view.required.size > 0) return ['object'];
  if (view.items.length > 0 || view.prefix.length > 0) return ['array'];
  return [];
}

function narrowest(type: string, types: readonly string[]): string[] {
  if (types.includes(type)) return [type];
  if (type === 'number' && types.includes('integer')) return ['integer'];
  return type === 'integer' && types.includes('number') ? ['integer'] : [];
}

function isOfType(value: unknown, type: string): boolean {
  return typeNameOf(value) === (type === 'integer' ? 'number' : type);
}

function valuesOf(parts: readonly SchemaObject[]): readonly unknown[] | undefined {
  for (const part of parts) {
    if ('const' in part) return [part['const']];
    const members: unknown = part['enum'];
    if (Array.isArray(members)) return [...members];
  }
  return undefined;
}

function wordsOfSchema(key: string, parts: readonly SchemaObject[]): ReadonlySet<string> {
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

function isSchema(node: unknown): node is SchemaNode {
  return typeof node === 'boolean' || isJsonObject(node);
}

function schemaOf(node: unknown): SchemaNode[] {
  return isSchema(node) ? [node] : [];
}

function schemasOf(nodes: unknown): SchemaNode[] {
  return Array.isArray(nodes) ? nodes.filter(isSchema) : [];
}

function stringsOf(names: unknown): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

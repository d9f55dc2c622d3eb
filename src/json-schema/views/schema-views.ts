import type { CompiledSchema } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { nameType, readTypes } from '../interpreter/scalar-checks.js';
import { isJsonObject } from '../json-schema.js';
import type { SchemaNode, SchemaObject } from '../json-schema.js';
import type { Allowance, Pattern, PatternCompiler } from '../patterns/pattern.js';
import { listChildSchemas } from '../schema-references.js';
import type { LocatedSchema, SchemaDocument } from '../schema-references.js';
import { indexChoices } from '../text/choices.js';
import type { Choice, ChoiceIndex } from '../text/choices.js';
import { foldKey } from '../text/key-spelling.js';
import {
  collectParts,
  collectProperties,
  collectWords,
  isSchema,
  isShareSchema,
  MAX_PARTS,
  readMembers,
  readSchemaKeyword,
  readSchemas,
  readStrings,
  toAlternatives,
} from './schema-parts.js';

/** The views of a document, made once as far as they are kept. */
export interface SchemaViews {
  readonly root: AlignmentView;
  /** Must be called before each value: resets the limit on the views created for one value. */
  readonly beginValue: () => void;
  /** The view of schemas that apply together, under a key. */
  readonly getView: (nodes: Conjunction, key: string) => AlignmentView;
  /**
   * The alternatives of a view: its first `anyOf` or `oneOf`, or its types; undefined if there is nothing to choose, none
   * if the schema nests too many of them to try.
   */
  readonly getAlternatives: (view: AlignmentView) => readonly AlignmentView[] | undefined;
  /** Whether any schema of the document names this property, in any spelling. */
  readonly isKnownKey: (key: string) => boolean;
}

/** Alternatives inside alternatives that are followed; only schemas made to be costly have more. */
const MAX_NESTING = 6;
/** Views of alternatives made for one value. */
const MAX_VIEWS = 5000;
/** Views cached for later values. Properties recur in every value; the keys of a map differ from value to value. */
const MAX_KEPT = 10_000;

/** Makes the views of a document when they are asked for; schemas that are the same by reference share one. */
export function createViews(source: ViewSource, checks: SchemaChecks): SchemaViews {
  const single = new Map<CompiledSchema, Map<string, AlignmentView>>();
  let alternatives = new WeakMap<AlignmentView, readonly AlignmentView[]>();
  let keys: ReadonlySet<string> | undefined;
  let kept = 0;
  let made = 0;
  return { root: getView([source.document.root.node], ''), beginValue, getView, getAlternatives, isKnownKey };

  function isKnownKey(key: string): boolean {
    keys ??= collectKeys(source.document.root);
    return keys.has(foldKey(key));
  }

  function beginValue(): void {
    made = 0;
    if (kept < MAX_KEPT) return;
    single.clear();
    alternatives = new WeakMap();
    kept = 0;
  }

  function getView(nodes: Conjunction, key: string): AlignmentView {
    const [only] = nodes;
    if (only === undefined || nodes.length > 1) return makeView(source, nodes, key);
    const compiled = checks(only);
    const known = single.get(compiled)?.get(key);
    if (known !== undefined) return known;
    const view = makeView(source, nodes, key);
    if (kept < MAX_KEPT)
      single.set(compiled, (single.get(compiled) ?? new Map<string, AlignmentView>()).set(key, view));
    kept += 1;
    return view;
  }

  function getAlternatives(view: AlignmentView): readonly AlignmentView[] | undefined {
    const known = alternatives.get(view);
    if (known !== undefined) return known;
    const [group] = view.groups;
    if (group === undefined && view.types.length < 2) return undefined;
    if (view.nesting >= MAX_NESTING || made > MAX_VIEWS) return [];
    const views =
      group === undefined
        ? view.types.map((type) => chooseType(view, type))
        : group.map((alternative) => chooseAlternative(source, view, alternative));
    made += views.length;
    kept += views.length;
    alternatives.set(view, views);
    return views;
  }
}

/** Schemas that all apply to one value. */
export type Conjunction = readonly SchemaNode[];

/** One way of `anyOf` or `oneOf`; several schemas are constants that together make an enum. */
export type Alternative = readonly SchemaNode[];

/** The input from which views are created. */
export interface ViewSource {
  readonly document: SchemaDocument;
  readonly compilePattern: PatternCompiler;
}

/** The schema's description of a value, with references and `allOf` merged in. */
export interface AlignmentView {
  /** The schemas that decide the verdict. */
  readonly nodes: Conjunction;
  /** The schema objects this view was made of. */
  readonly parts: readonly SchemaObject[];
  /** `anyOf` and `oneOf`, each a list of alternatives. */
  readonly groups: readonly (readonly Alternative[])[];
  /** How many nested alternatives were chosen to get here. */
  readonly nesting: number;
  /** The expected types; empty if any type is allowed. */
  readonly types: readonly string[];
  /** The values of an enum or constant. */
  readonly members: readonly Choice[] | undefined;
  readonly isConstant: boolean;
  readonly properties: ReadonlyMap<string, Conjunction>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[];
  readonly required: ReadonlySet<string>;
  readonly isClosed: boolean;
  /** The schema of keys that neither a property nor a pattern names. */
  readonly rest: Conjunction;
  readonly prefix: readonly Conjunction[];
  readonly items: Conjunction;
  readonly format: string | undefined;
  readonly isShare: boolean;
  readonly words: ReadonlySet<string>;
  readonly choices: () => ChoiceIndex;
}

function collectKeys(root: LocatedSchema): ReadonlySet<string> {
  const keys = new Set<string>();
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.node === 'boolean') continue;
    const { properties } = next.node;
    if (isJsonObject(properties)) for (const name of Object.keys(properties)) keys.add(foldKey(name));
    waiting.push(...listChildSchemas(next.node, ''));
  }
  return keys;
}

/** The view of schemas that apply together; `key` is the name the value goes by. */
function makeView(source: ViewSource, nodes: Conjunction, key: string): AlignmentView {
  const parts = collectParts(source.document, nodes);
  const groups = parts
    .flatMap((part) => ['anyOf', 'oneOf'].map((keyword) => toAlternatives(readSchemas(part[keyword]))))
    .filter((group) => group.length > 0);
  return describe(source, nodes, parts, groups, collectWords(key, parts), readMembers(parts));
}

/** The view of one alternative of the first group, together with everything else the view says. */
function chooseAlternative(source: ViewSource, view: AlignmentView, alternative: Alternative): AlignmentView {
  const others = view.groups.slice(1);
  if (alternative.length > 1) {
    const members = alternative.flatMap((node) => readMembers([node].filter(isJsonObject)) ?? []);
    const merged = describe(source, view.nodes, view.parts, others, view.words, members);
    return { ...merged, isConstant: false, nesting: view.nesting + 1 };
  }
  const chosen = makeView(source, alternative, '');
  const words = new Set([...view.words, ...chosen.words]);
  const parts = [...new Set([...view.parts, ...chosen.parts])].slice(0, MAX_PARTS);
  const nodes = [...view.nodes, ...alternative];
  const groups = [...chosen.groups, ...others];
  return { ...describe(source, nodes, parts, groups, words, readMembers(parts)), nesting: view.nesting + 1 };
}

/** The view narrowed to one of its types. */
function chooseType(view: AlignmentView, type: string): AlignmentView {
  return { ...view, types: [type], members: view.members?.filter(({ value }) => hasSchemaType(value, type)) };
}

/** Lists the schemas that apply to the value under a key; undefined if the key is not allowed. */
export function listSchemasForKey(view: AlignmentView, key: string, allowance: Allowance): Conjunction | undefined {
  const named = view.properties.get(key);
  const matching = view.patterns.filter(({ pattern }) => pattern.test(key, allowance));
  if (named !== undefined || matching.length > 0) return [...(named ?? []), ...matching.map(({ node }) => node)];
  return view.isClosed ? undefined : view.rest;
}

function describe(
  source: ViewSource,
  nodes: Conjunction,
  parts: readonly SchemaObject[],
  groups: AlignmentView['groups'],
  words: ReadonlySet<string>,
  members: readonly Choice[] | undefined,
): AlignmentView {
  let choices: ChoiceIndex | undefined;
  const prefixes = parts.map((part) => readSchemas(part['prefixItems']));
  const view = {
    nodes,
    parts,
    groups,
    nesting: 0,
    members,
    words,
    isConstant: parts.some((part) => 'const' in part),
    properties: collectProperties(parts),
    patterns: collectPatterns(source, parts),
    required: new Set(parts.flatMap((part) => readStrings(part['required']))),
    isClosed: parts.some((part) => part['additionalProperties'] === false || part['unevaluatedProperties'] === false),
    rest: parts.flatMap((part) => readSchemaKeyword(part['additionalProperties'])),
    prefix: Array.from({ length: Math.max(0, ...prefixes.map((prefix) => prefix.length)) }, (_item, index) =>
      prefixes.flatMap((prefix) => prefix.slice(index, index + 1)),
    ),
    items: parts.flatMap((part) => readSchemaKeyword(part['items'])),
    format: parts.map((part) => part['format']).find((format) => typeof format === 'string'),
    isShare: parts.some(isShareSchema),
    choices: () => (choices ??= indexChoices(members ?? [])),
  };
  return { ...view, types: listExpectedTypes(parts, view) };
}

function collectPatterns(source: ViewSource, parts: readonly SchemaObject[]): AlignmentView['patterns'] {
  return parts.flatMap((part) => {
    const patterns = part['patternProperties'];
    if (!isJsonObject(patterns)) return [];
    return Object.entries(patterns).flatMap(([text, node]) =>
      isSchema(node) ? [{ pattern: source.compilePattern(text, '#'), node }] : [],
    );
  });
}

/** The types named, or what the other keywords only make sense for. */
function listExpectedTypes(parts: readonly SchemaObject[], view: Omit<AlignmentView, 'types'>): readonly string[] {
  const named = parts.map(readTypes).filter((types) => types.length > 0);
  const [first, ...others] = named;
  if (first !== undefined) {
    const types = others.reduce((common, other) => common.flatMap((type) => narrowest(type, other)), first);
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }
  if (view.members !== undefined) return [...new Set(view.members.map(({ value }) => nameType(value)))];
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

function hasSchemaType(value: unknown, type: string): boolean {
  return nameType(value) === (type === 'integer' ? 'number' : type);
}

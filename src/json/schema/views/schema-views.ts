import type { CompiledSchema } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { getTypeName, readTypes } from '../interpreter/scalar-checks.js';
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
  isFractionSchema,
  isSchema,
  MAX_PARTS,
  readEnumMembers,
  readSchemas,
  readStrings,
  toAlternatives,
} from './schema-parts.js';

/** The cached views of a document. */
export interface SchemaViews {
  readonly root: AlignmentView;
  /** Must be called before each value: resets the count of views created for one value. */
  readonly startValue: () => void;
  /** Returns the view of schemas that apply together to the value of a key. */
  readonly getView: (nodes: Conjunction, key: string) => AlignmentView;
  /**
   * The alternatives of a view: its first `anyOf` or `oneOf`, or its types; undefined if there is nothing to choose, an
   * empty list if there are too many to try.
   */
  readonly getAlternatives: (view: AlignmentView) => readonly AlignmentView[] | undefined;
  /** Whether any schema of the document names this property, in any spelling. */
  readonly isKnownKey: (key: string) => boolean;
}

/** Maximum nesting of alternatives; only malicious schemas have more. */
const MAX_NESTING = 6;
/** Maximum number of alternative views created for one value. */
const MAX_VIEWS = 5000;
/**
 * Maximum number of views cached for later values. Properties recur in every value; map keys differ from value to
 * value.
 */
const MAX_CACHED_VIEWS = 10_000;

/** Creates a document's views on demand; schemas that refer to the same target share one. */
export function createViews(source: ViewSource, checks: SchemaChecks): SchemaViews {
  const cachedViews = new Map<CompiledSchema, Map<string, AlignmentView>>();
  let alternatives = new WeakMap<AlignmentView, readonly AlignmentView[]>();
  let keys: ReadonlySet<string> | undefined;
  let cachedCount = 0;
  let viewCount = 0;
  return { root: getView([source.document.root.node], ''), startValue, getView, getAlternatives, isKnownKey };

  function isKnownKey(key: string): boolean {
    keys ??= collectKeys(source.document.root);
    return keys.has(foldKey(key));
  }

  function startValue(): void {
    viewCount = 0;
    if (cachedCount < MAX_CACHED_VIEWS) return;
    cachedViews.clear();
    alternatives = new WeakMap();
    cachedCount = 0;
  }

  function getView(nodes: Conjunction, key: string): AlignmentView {
    const [only] = nodes;
    if (only === undefined || nodes.length > 1) return readView(source, nodes, key);
    const compiled = checks(only);
    const known = cachedViews.get(compiled)?.get(key);
    if (known !== undefined) return known;
    const view = readView(source, nodes, key);
    if (cachedCount < MAX_CACHED_VIEWS)
      cachedViews.set(compiled, (cachedViews.get(compiled) ?? new Map<string, AlignmentView>()).set(key, view));
    cachedCount += 1;
    return view;
  }

  function getAlternatives(view: AlignmentView): readonly AlignmentView[] | undefined {
    const known = alternatives.get(view);
    if (known !== undefined) return known;
    const [group] = view.groups;
    if (group === undefined && view.types.length < 2) return undefined;
    if (view.nesting >= MAX_NESTING || viewCount > MAX_VIEWS) return [];
    const views =
      group === undefined
        ? view.types.map((type) => chooseType(view, type))
        : group.map((alternative) => chooseAlternative(source, view, alternative));
    viewCount += views.length;
    cachedCount += views.length;
    alternatives.set(view, views);
    return views;
  }
}

/** Schemas that all apply to one value. */
export type Conjunction = readonly SchemaNode[];

/** One alternative of `anyOf` or `oneOf`; if it has several schemas, they are constants that form an enum together. */
export type Alternative = readonly SchemaNode[];

/** The input for creating views. */
export interface ViewSource {
  readonly document: SchemaDocument;
  readonly compilePattern: PatternCompiler;
}

/** The schema's description of a value, with references and `allOf` merged in. */
export interface AlignmentView {
  /** The schemas that determine whether a value is valid. */
  readonly nodes: Conjunction;
  /** The schema objects that this view combines. */
  readonly parts: readonly SchemaObject[];
  /** `anyOf` and `oneOf`, each a list of alternatives. */
  readonly groups: readonly (readonly Alternative[])[];
  /** The number of nested alternatives chosen so far. */
  readonly nesting: number;
  /** The expected types; empty if any type is allowed, or if the schemas contradict each other. */
  readonly types: readonly string[];
  /** The values of an enum or constant. */
  readonly members: readonly Choice[] | undefined;
  readonly properties: ReadonlyMap<string, Conjunction>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly node: SchemaNode }[];
  readonly required: ReadonlySet<string>;
  readonly isClosed: boolean;
  /** The schemas of values under keys not covered by a property or a pattern. */
  readonly additional: Conjunction;
  readonly prefix: readonly Conjunction[];
  readonly items: Conjunction;
  readonly format: string | undefined;
  /** Whether a number is a fraction, at most 1. */
  readonly isFraction: boolean;
  /** The words of the key, and of titles and descriptions: units of numbers are looked up in them. */
  readonly words: ReadonlySet<string>;
  /** The words of the key alone. */
  readonly keyWords: ReadonlySet<string>;
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

/** Creates the view of schemas that apply together to the value of `key`. */
function readView(source: ViewSource, nodes: Conjunction, key: string): AlignmentView {
  const parts = collectParts(source.document, nodes);
  const groups = parts
    .flatMap((part) => ['anyOf', 'oneOf'].map((keyword) => toAlternatives(readSchemas(part[keyword]))))
    .filter((group) => group.length > 0);
  const members = readEnumMembers(parts);
  const words = collectWords(key, parts);
  return createView(source, nodes, parts, { groups, members, words, keyWords: collectWords(key, []), nesting: 0 });
}

/** Narrows a view to one alternative of its first group. */
function chooseAlternative(source: ViewSource, view: AlignmentView, alternative: Alternative): AlignmentView {
  const others = view.groups.slice(1);
  const { keyWords } = view;
  const nesting = view.nesting + 1;
  if (alternative.length > 1) {
    const members = alternative.flatMap((node) => readEnumMembers([node].filter(isJsonObject)) ?? []);
    return createView(source, view.nodes, view.parts, { ...view, groups: others, members, nesting });
  }
  const chosen = readView(source, alternative, '');
  const parts = [...new Set([...view.parts, ...chosen.parts])].slice(0, MAX_PARTS);
  const words = new Set([...view.words, ...chosen.words]);
  const groups = [...chosen.groups, ...others];
  const members = readEnumMembers(parts);
  return createView(source, [...view.nodes, ...alternative], parts, { groups, members, words, keyWords, nesting });
}

/** Narrows a view to one of its types. */
function chooseType(view: AlignmentView, type: string): AlignmentView {
  return { ...view, types: [type], members: view.members?.filter(({ value }) => hasSchemaType(value, type)) };
}

/** Lists the schemas that apply to the value under a key; undefined if the key is not allowed. */
export function listSchemasForKey(view: AlignmentView, key: string, allowance: Allowance): Conjunction | undefined {
  const named = view.properties.get(key);
  const matching = view.patterns.filter(({ pattern }) => pattern.test(key, allowance));
  if (named !== undefined || matching.length > 0) return [...(named ?? []), ...matching.map(({ node }) => node)];
  return view.isClosed ? undefined : view.additional;
}

function createView(
  source: ViewSource,
  nodes: Conjunction,
  parts: readonly SchemaObject[],
  {
    groups,
    members,
    words,
    keyWords,
    nesting,
  }: Pick<AlignmentView, 'groups' | 'members' | 'words' | 'keyWords' | 'nesting'>,
): AlignmentView {
  let choices: ChoiceIndex | undefined;
  const prefixes = parts.map((part) => readSchemas(part['prefixItems']));
  const longest = Math.max(0, ...prefixes.map((prefix) => prefix.length));
  const view = {
    nodes,
    parts,
    groups,
    nesting,
    members,
    words,
    keyWords,
    properties: collectProperties(parts),
    patterns: parts.flatMap(({ patternProperties: patterns }) =>
      Object.entries(isJsonObject(patterns) ? patterns : {}).flatMap(([text, node]) =>
        isSchema(node) ? [{ pattern: source.compilePattern(text, '#'), node }] : [],
      ),
    ),
    required: new Set(parts.flatMap((part) => readStrings(part['required']))),
    isClosed: parts.some((part) => part['additionalProperties'] === false || part['unevaluatedProperties'] === false),
    additional: parts.flatMap((part) => [part['additionalProperties']].filter(isSchema)),
    prefix: Array.from({ length: longest }, (_, index) => prefixes.flatMap((prefix) => prefix.slice(index, index + 1))),
    items: parts.flatMap((part) => [part['items']].filter(isSchema)),
    format: parts.map((part) => part['format']).find((format) => typeof format === 'string'),
    isFraction: parts.some(isFractionSchema),
    choices: () => (choices ??= indexChoices(members ?? [])),
  };
  return { ...view, types: listExpectedTypes(parts, view) };
}

/** Lists the types that are specified, or implied by other keywords. */
function listExpectedTypes(parts: readonly SchemaObject[], view: Omit<AlignmentView, 'types'>): readonly string[] {
  const named = parts.map(readTypes).filter((types) => types.length > 0);
  const [first, ...others] = named;
  if (first !== undefined) {
    const types = others.reduce((common, other) => common.flatMap((type) => intersectType(type, other)), first);
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }
  if (view.members !== undefined) return [...new Set(view.members.map(({ value }) => getTypeName(value)))];
  if (view.groups.length > 0) return [];
  if (view.properties.size > 0 || view.required.size > 0) return ['object'];
  if (view.items.length > 0 || view.prefix.length > 0) return ['array'];
  return [];
}

function intersectType(type: string, types: readonly string[]): string[] {
  if (types.includes(type)) return [type];
  if (type === 'number' && types.includes('integer')) return ['integer'];
  return type === 'integer' && types.includes('number') ? ['integer'] : [];
}

function hasSchemaType(value: unknown, type: string): boolean {
  return getTypeName(value) === (type === 'integer' ? 'number' : type);
}

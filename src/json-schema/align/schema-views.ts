import type { CompiledSchema } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { chooseAlternative, chooseType, makeView } from './alignment-view.js';
import type { AlignmentView, Conjunction, ViewSource } from './alignment-view.js';

/** The views of a document, made once as far as they are kept. */
export interface SchemaViews {
  readonly root: AlignmentView;
  /** To be called before each value: what may be made for it does not depend on the values before. */
  readonly beginValue: () => void;
  /** The view of schemas that apply together, under a key. */
  readonly viewOf: (nodes: Conjunction, key: string) => AlignmentView;
  /**
   * The alternatives of a view: its first `anyOf` or `oneOf`, or its types; undefined if there is nothing to choose, none
   * if the schema nests too many of them to try.
   */
  readonly alternativesOf: (view: AlignmentView) => readonly AlignmentView[] | undefined;
}

/** Alternatives inside alternatives that are followed; only schemas made to be costly have more. */
const MOST_NESTING = 6;
/** Views of alternatives made for one value. */
const MOST_VIEWS = 5000;
/** Views kept for later values. Properties come back with every value; the keys of a map are made up by each anew. */
const MOST_KEPT = 10_000;

/** Makes the views of a document when they are asked for; schemas that are the same by reference share one. */
export function createViews(source: ViewSource, checks: SchemaChecks): SchemaViews {
  const single = new Map<CompiledSchema, Map<string, AlignmentView>>();
  let alternatives = new WeakMap<AlignmentView, readonly AlignmentView[]>();
  let kept = 0;
  let made = 0;
  return { root: viewOf([source.document.root.node], ''), beginValue, viewOf, alternativesOf };

  function beginValue(): void {
    made = 0;
    if (kept < MOST_KEPT) return;
    single.clear();
    alternatives = new WeakMap();
    kept = 0;
  }

  function viewOf(nodes: Conjunction, key: string): AlignmentView {
    const [only] = nodes;
    if (only === undefined || nodes.length > 1) return makeView(source, nodes, key);
    const compiled = checks(only);
    const known = single.get(compiled)?.get(key);
    if (known !== undefined) return known;
    const view = makeView(source, nodes, key);
    if (kept < MOST_KEPT)
      single.set(compiled, (single.get(compiled) ?? new Map<string, AlignmentView>()).set(key, view));
    kept += 1;
    return view;
  }

  function alternativesOf(view: AlignmentView): readonly AlignmentView[] | undefined {
    const known = alternatives.get(view);
    if (known !== undefined) return known;
    const [group] = view.groups;
    if (group === undefined && view.types.length < 2) return undefined;
    if (view.nesting >= MOST_NESTING || made > MOST_VIEWS) return [];
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

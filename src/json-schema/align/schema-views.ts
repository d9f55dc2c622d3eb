import type { CompiledSchema } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { chooseAlternative, chooseType, makeView } from './alignment-view.js';
import type { AlignmentView, Conjunction, ViewSource } from './alignment-view.js';

/** The views of a document, each made once. */
export interface SchemaViews {
  readonly root: AlignmentView;
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
/** Views of alternatives made for one document. */
const MOST_VIEWS = 5000;

/** Makes the views of a document when they are asked for; schemas that are the same by reference share one. */
export function createViews(source: ViewSource, checks: SchemaChecks): SchemaViews {
  const single = new Map<CompiledSchema, Map<string, AlignmentView>>();
  let made = 0;
  const alternatives = new WeakMap<AlignmentView, readonly AlignmentView[]>();
  return { root: viewOf([source.document.root.node], ''), viewOf, alternativesOf };

  function viewOf(nodes: Conjunction, key: string): AlignmentView {
    const [only] = nodes;
    if (only === undefined || nodes.length > 1) return makeView(source, nodes, key);
    const compiled = checks(only);
    const byKey = single.get(compiled) ?? new Map<string, AlignmentView>();
    single.set(compiled, byKey);
    const view = byKey.get(key) ?? makeView(source, nodes, key);
    byKey.set(key, view);
    return view;
  }

  function alternativesOf(view: AlignmentView): readonly AlignmentView[] | undefined {
    const known = alternatives.get(view);
    if (known !== undefined) return known;
    const [group] = view.groups;
    if (group === undefined && view.types.length < 2) return undefined;
    if (view.nesting >= MOST_NESTING || made > MOST_VIEWS) return [];
    made += group?.length ?? view.types.length;
    const views =
      group === undefined
        ? view.types.map((type) => chooseType(view, type))
        : group.map((alternative) => chooseAlternative(source, view, alternative));
    alternatives.set(view, views);
    return views;
  }
}

import type { Allowance } from '../patterns/pattern.js';
import type { Path, SchemaIssue } from '../../json/index.js';
import type { CheckRun } from '../interpreter/check.js';
import type { SchemaChecks } from '../interpreter/compile-schema.js';
import { schemasForKey } from './schema-views.js';
import type { AlignmentView, Conjunction, SchemaViews } from './schema-views.js';

/** Most combinations of alternatives for one place; with more of them a part has no issues. */
const MOST_WAYS = 64;
/** Steps for one part. */
const MOST_STEPS = 5_000_000;

/** Reports the issues of a finished part of a value; none if any alternative of the schema accepts it. */
export function createPartCheck(
  views: SchemaViews,
  checks: SchemaChecks,
): (path: Path, value: unknown) => readonly SchemaIssue[] {
  return (path, value) => {
    views.beginValue();
    const allowance: Allowance = { steps: MOST_STEPS };
    let ways: readonly Conjunction[] = [views.root.nodes];
    for (const step of path) {
      const expanded = expand(ways.map((nodes) => views.getView(nodes, '')));
      if (expanded === undefined) return [];
      ways = expanded.flatMap((view) => enter(view, step, allowance));
      if (allowance.steps < 0) return [];
      if (ways.length === 0) return [{ path: [...path], message: `nothing is allowed at ${JSON.stringify(step)}` }];
    }
    let first: readonly SchemaIssue[] = [];
    for (const nodes of ways) {
      const issues = findIssues(nodes, path, value);
      if (issues.length === 0) return [];
      if (first.length === 0) first = issues;
    }
    return first;
  };

  /** Every combination of alternatives; undefined if there are too many. */
  function expand(from: readonly AlignmentView[]): readonly AlignmentView[] | undefined {
    const waiting = [...from];
    const expanded: AlignmentView[] = [];
    for (let view = waiting.pop(); view !== undefined; view = waiting.pop()) {
      const alternatives = views.getAlternatives(view);
      if (alternatives === undefined) expanded.push(view);
      else waiting.push(...alternatives);
      if (alternatives?.length === 0 || waiting.length + expanded.length > MOST_WAYS) return undefined;
    }
    return expanded;
  }

  function findIssues(nodes: Conjunction, path: Path, value: unknown): readonly SchemaIssue[] {
    const issues: SchemaIssue[] = [];
    const run: CheckRun = { steps: MOST_STEPS, path: [...path], issues, explaining: 0 };
    try {
      for (const node of nodes) checks(node).check(value, run, undefined);
    } catch (error) {
      // A long chain of references exhausts the call stack. The finished value is checked again, and refused there.
      if (error instanceof RangeError) return [];
      throw error;
    }
    return run.steps < 0 ? [] : issues;
  }
}

/** The schemas one step deeper; none if the view has no room for the step. */
function enter(view: AlignmentView, step: string | number, allowance: Allowance): Conjunction[] {
  const isKey = typeof step === 'string';
  if (view.nodes.includes(false)) return [];
  if (view.types.length > 0 && !view.types.includes(isKey ? 'object' : 'array')) return [];
  if (!isKey) return [view.prefix[step] ?? view.items];
  const nodes = schemasForKey(view, step, allowance);
  return nodes === undefined ? [] : [nodes];
}

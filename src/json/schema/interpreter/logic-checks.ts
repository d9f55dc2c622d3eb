import { isJsonObject } from '../json-schema.js';
import { addEvaluated, checkBranch, createEvaluated, fail } from './check.js';
import type { Check, CheckRun, CompiledSchema, KeywordContext } from './check.js';
import { readTypes } from './scalar-checks.js';

/** The keywords that apply further schemas to the same value. */
export function createLogicChecks({ schema, compile, follow }: KeywordContext): Check[] {
  const checks: Check[] = [];
  for (const keyword of ['$ref', '$dynamicRef']) {
    const reference = schema[keyword];
    if (typeof reference === 'string') checks.push(createNestedCheck(follow(reference)));
  }
  const { allOf, anyOf, oneOf } = schema;
  if (Array.isArray(allOf)) checks.push(...allOf.map((node) => createNestedCheck(compile(node))));
  if (Array.isArray(anyOf)) checks.push(createChoiceCheck(anyOf, anyOf.map(compile), false));
  if (Array.isArray(oneOf)) checks.push(createChoiceCheck(oneOf, oneOf.map(compile), true));
  if ('not' in schema) {
    const inner = compile(schema['not']);
    checks.push(
      (value, run) => !checkBranch(inner, value, run, undefined) || fail(run, 'must not match the schema under "not"'),
    );
  }
  if ('if' in schema) {
    const [condition, whenTrue, whenFalse] = [schema['if'], schema['then'] ?? true, schema['else'] ?? true].map(
      compile,
    );
    checks.push((value, run, evaluated) => {
      const passed = condition !== undefined && checkBranch(condition, value, run, evaluated);
      return (passed ? whenTrue : whenFalse)?.check(value, run, evaluated) === true;
    });
  }
  return checks;
}

function createNestedCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    run.steps -= 1;
    return run.steps >= 0 && inner.check(value, run, evaluated);
  };
}

/** Checks whether an alternative passes, or exactly one; issues are collected only if none does. */
function createChoiceCheck(
  schemas: readonly unknown[],
  branches: readonly CompiledSchema[],
  isExclusive: boolean,
): Check {
  return (value, run, evaluated) => {
    const limit = isExclusive ? 2 : evaluated === undefined ? 1 : Infinity;
    const { issues } = run;
    run.issues = undefined;
    run.steps -= branches.length;
    let count = 0;
    for (let index = 0; index < branches.length && count < limit && run.steps >= 0; index += 1) {
      const covered = evaluated === undefined ? undefined : createEvaluated();
      if (branches[index]?.check(value, run, covered) !== true) continue;
      count += 1;
      if (evaluated !== undefined && covered !== undefined) addEvaluated(evaluated, covered, run);
    }
    run.issues = issues;
    if (isExclusive && count > 1) return fail(run, 'matches more than one of the alternatives under "oneOf"');
    return count > 0 || explainBranches(schemas, branches, value, run);
  };
}

/** Limit on nested alternatives that are explained: each level rechecks everything below it. */
const MAX_EXPLANATION_DEPTH = 8;

/** Reports the issues of the only alternative that matches the value's type: they help more than "matches none". */
function explainBranches(
  schemas: readonly unknown[],
  branches: readonly CompiledSchema[],
  value: unknown,
  run: CheckRun,
): boolean {
  if (run.issues === undefined) return false;
  const matching = branches.filter((_branch, index) => matchesType(schemas[index], value));
  const [only] = matching;
  if (matching.length === 1 && only !== undefined && run.explaining < MAX_EXPLANATION_DEPTH) {
    run.explaining += 1;
    const passed = only.check(value, run, undefined);
    run.explaining -= 1;
    if (!passed) return false;
  }
  return fail(run, `matches none of the ${branches.length} alternatives`);
}

/**
 * Whether a schema's types allow this object or list. Never true for scalars: "matches none" is as informative as their
 * issues.
 */
function matchesType(schema: unknown, value: unknown): boolean {
  if (!isJsonObject(schema)) return schema === true;
  const types = readTypes(schema);
  if (typeof value !== 'object' || value === null) return false;
  return types.length === 0 || types.includes(Array.isArray(value) ? 'array' : 'object');
}

import { isJsonObject } from '../json-schema.js';
import { addEvaluated, fail, createEvaluated, passes } from './check.js';
import type { Check, CheckRun, CompiledSchema, Evaluated, KeywordContext } from './check.js';
import { readTypes } from './scalar-checks.js';

/** The keywords that apply further schemas to the same value. */
export function createLogicChecks(context: KeywordContext): Check[] {
  const { schema, compile, follow } = context;
  const checks: Check[] = [];
  for (const keyword of ['$ref', '$dynamicRef']) {
    const reference = schema[keyword];
    if (typeof reference === 'string') checks.push(createNestedCheck(follow(reference)));
  }
  if (Array.isArray(schema['allOf'])) checks.push(...schema['allOf'].map((node) => createNestedCheck(compile(node))));
  if (Array.isArray(schema['anyOf'])) checks.push(createAnyOfCheck(schema['anyOf'], schema['anyOf'].map(compile)));
  if (Array.isArray(schema['oneOf'])) checks.push(createOneOfCheck(schema['oneOf'], schema['oneOf'].map(compile)));
  if ('not' in schema) {
    const inner = compile(schema['not']);
    checks.push((value, run) => !passes(inner, value, run) || fail(run, 'must not match the schema under "not"'));
  }
  if ('if' in schema) checks.push(createConditionCheck(context));
  return checks;
}

function createNestedCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    run.steps -= 1;
    return run.steps >= 0 && inner.check(value, run, evaluated);
  };
}

/** Checks whether an alternative passes; issues are collected only if none does. */
function createAnyOfCheck(schemas: readonly unknown[], branches: readonly CompiledSchema[]): Check {
  return (value, run, evaluated) => {
    if (countPassing(branches, value, run, evaluated, evaluated === undefined ? 1 : Infinity) > 0) return true;
    return explainBranches(schemas, branches, value, run);
  };
}

function createOneOfCheck(schemas: readonly unknown[], branches: readonly CompiledSchema[]): Check {
  return (value, run, evaluated) => {
    const count = countPassing(branches, value, run, evaluated, 2);
    if (count === 1) return true;
    if (count > 1) return fail(run, 'matches more than one of the alternatives under "oneOf"');
    return explainBranches(schemas, branches, value, run);
  };
}

/** Counts the alternatives that pass, up to `limit`. */
function countPassing(
  branches: readonly CompiledSchema[],
  value: unknown,
  run: CheckRun,
  evaluated: Evaluated | undefined,
  limit: number,
): number {
  const issues = run.issues;
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
  return count;
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

function createConditionCheck({ schema, compile }: KeywordContext): Check {
  const condition = compile(schema['if']);
  const whenTrue = compile(schema['then'] ?? true);
  const whenFalse = compile(schema['else'] ?? true);
  return (value, run, evaluated) => {
    const issues = run.issues;
    run.issues = undefined;
    const covered = evaluated === undefined ? undefined : createEvaluated();
    const passed = condition.check(value, run, covered);
    run.issues = issues;
    if (passed && evaluated !== undefined && covered !== undefined) addEvaluated(evaluated, covered, run);
    return (passed ? whenTrue : whenFalse).check(value, run, evaluated);
  };
}

import { hasUniqueItems } from '../json-values.js';
import { fail, isSettled, createEqualityKey, createEvaluated, passes } from './check.js';
import type { Check, CompiledSchema, KeywordContext } from './check.js';

/** The keywords for lists. `unevaluatedItems` comes last, because it depends on what all others have evaluated. */
export function createArrayChecks(context: KeywordContext): Check[] {
  const { schema, compile } = context;
  const minItems = schema['minItems'];
  const maxItems = schema['maxItems'];
  const checks: Check[] = [];
  if (typeof minItems === 'number') {
    checks.push(
      (value, run) =>
        !Array.isArray(value) ||
        value.length >= minItems ||
        fail(run, `must have at least ${minItems} item${minItems === 1 ? '' : 's'}`),
    );
  }
  if (typeof maxItems === 'number') {
    checks.push(
      (value, run) =>
        !Array.isArray(value) ||
        value.length <= maxItems ||
        fail(run, `must have at most ${maxItems} item${maxItems === 1 ? '' : 's'}`),
    );
  }
  if (schema['uniqueItems'] === true) {
    checks.push((value, run) => {
      if (!Array.isArray(value)) return true;
      run.steps -= value.length;
      const isUnique = hasUniqueItems(value, (item) => createEqualityKey(item, run));
      return isUnique || fail(run, 'must not have equal items');
    });
  }
  if ('prefixItems' in schema || 'items' in schema) checks.push(createItemsCheck(context));
  if ('contains' in schema) checks.push(createContainsCheck(context));
  return 'unevaluatedItems' in schema
    ? [...checks, createUnevaluatedCheck(compile(schema['unevaluatedItems']))]
    : checks;
}

function createItemsCheck({ schema, compile }: KeywordContext): Check {
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].map(compile) : [];
  const others = 'items' in schema ? compile(schema['items']) : undefined;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let passed = true;
    const end = others === undefined ? Math.min(prefix.length, value.length) : value.length;
    for (let index = 0; index < end; index += 1) {
      const item = prefix[index] ?? others;
      if (item === undefined) continue;
      run.steps -= 1;
      run.path.push(index);
      const fits = item.check(value[index], run, undefined);
      run.path.pop();
      if (fits) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, end);
    return passed;
  };
}

function createContainsCheck({ schema, compile }: KeywordContext): Check {
  const inner = compile(schema['contains']);
  const min = typeof schema['minContains'] === 'number' ? schema['minContains'] : 1;
  const max = typeof schema['maxContains'] === 'number' ? schema['maxContains'] : Infinity;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (let index = 0; index < value.length; index += 1) {
      run.steps -= 1;
      if (run.steps < 0) return false;
      if (!passes(inner, value[index], run)) continue;
      count += 1;
      evaluated?.contained.add(index);
    }
    if (count < min) return fail(run, `must contain at least ${min} matching item${min === 1 ? '' : 's'}`);
    return count <= max || fail(run, `must contain at most ${max} matching item${max === 1 ? '' : 's'}`);
  };
}

function createUnevaluatedCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const covered = evaluated ?? createEvaluated();
    let passed = true;
    for (let index = covered.items; index < value.length; index += 1) {
      if (covered.contained.has(index)) continue;
      run.steps -= 1;
      if (run.steps < 0) return false;
      run.path.push(index);
      const fits = inner.check(value[index], run, undefined);
      run.path.pop();
      if (fits) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    covered.items = value.length;
    return passed;
  };
}

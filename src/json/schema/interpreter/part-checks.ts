import { isJsonObject } from '../json-schema.js';
import { hasUniqueItems } from '../json-values.js';
import type { Pattern } from '../patterns/pattern.js';
import { escapePointer } from '../read-schema.js';
import { checkBranch, checkPart, createEqualityKey, createEvaluated, fail, isSettled } from './check.js';
import type { Check, CheckRun, CompiledSchema, KeywordContext } from './check.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The keywords for the parts of lists and objects. The unevaluated parts come last, because they depend on what all
 * other keywords have evaluated.
 */
export function createPartChecks(context: KeywordContext): Check[] {
  const { schema, compile } = context;
  const { required, dependentRequired, dependentSchemas, minContains = 1, maxContains = Infinity } = schema;
  const hasAny = (...keywords: readonly string[]): boolean => keywords.some((keyword) => keyword in schema);
  const checks: Check[] = [];
  if (schema['uniqueItems'] === true) checks.push(checkUniqueItems);
  if (hasAny('prefixItems', 'items')) checks.push(createItemsCheck(context));
  if ('contains' in schema)
    checks.push(createContainsCheck(compile(schema['contains']), Number(minContains), Number(maxContains)));
  if (Array.isArray(required)) checks.push(createRequiredCheck(required.map(String)));
  if ('propertyNames' in schema) checks.push(createNamesCheck(compile(schema['propertyNames'])));
  if (isJsonObject(dependentRequired)) checks.push(createDependentRequiredCheck(dependentRequired));
  for (const [name, node] of Object.entries(isJsonObject(dependentSchemas) ? dependentSchemas : {})) {
    const inner = compile(node);
    checks.push(
      (value, run, evaluated) =>
        !isJsonObject(value) || !hasProperty(value, name) || inner.check(value, run, evaluated),
    );
  }
  if (hasAny('properties', 'patternProperties', 'additionalProperties')) checks.push(createPropertiesCheck(context));
  if ('unevaluatedItems' in schema) checks.push(createUnevaluatedItemsCheck(compile(schema['unevaluatedItems'])));
  if ('unevaluatedProperties' in schema)
    checks.push(createUnevaluatedPropertiesCheck(compile(schema['unevaluatedProperties'])));
  return checks;
}

/** Checks parts one after another until no further issues are needed; `check` returns whether a part passes. */
function checkAll<Key>(keys: Iterable<Key>, run: CheckRun, check: (key: Key) => boolean): boolean {
  let passed = true;
  for (const key of keys) {
    if (check(key)) continue;
    passed = false;
    if (isSettled(run)) return false;
  }
  return passed;
}

function createObjectCheck(check: (value: Fields, run: CheckRun) => boolean): Check {
  return (value, run) => !isJsonObject(value) || check(value, run);
}

const checkUniqueItems: Check = (value, run) => {
  if (!Array.isArray(value)) return true;
  run.steps -= value.length;
  return hasUniqueItems(value, (item) => createEqualityKey(item, run)) || fail(run, 'must not have equal items');
};

function createItemsCheck({ schema, compile }: KeywordContext): Check {
  const prefix = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].map(compile) : [];
  const others = 'items' in schema ? compile(schema['items']) : undefined;
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const end = others === undefined ? Math.min(prefix.length, value.length) : value.length;
    let passed = true;
    for (let index = 0; index < end; index += 1) {
      const item = prefix[index] ?? others;
      if (item === undefined) continue;
      run.steps -= 1;
      run.path.push(index);
      const isValid = item.check(value[index], run, undefined);
      run.path.pop();
      if (isValid) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    if (evaluated !== undefined) evaluated.items = Math.max(evaluated.items, end);
    return passed;
  };
}

function createContainsCheck(inner: CompiledSchema, min: number, max: number): Check {
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (let index = 0; index < value.length; index += 1) {
      run.steps -= 1;
      if (run.steps < 0) return false;
      if (!checkBranch(inner, value[index], run, undefined)) continue;
      count += 1;
      evaluated?.contained.add(index);
    }
    if (count < min) return fail(run, `must contain at least ${min} matching item${min === 1 ? '' : 's'}`);
    return count <= max || fail(run, `must contain at most ${max} matching item${max === 1 ? '' : 's'}`);
  };
}

function hasProperty(value: Fields, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

function createRequiredCheck(names: readonly string[]): Check {
  return createObjectCheck((value, run) => {
    run.steps -= names.length;
    return checkAll(names, run, (name) => hasProperty(value, name) || fail(run, 'required, but missing', name));
  });
}

function createNamesCheck(inner: CompiledSchema): Check {
  return createObjectCheck((value, run) => {
    const names = Object.keys(value);
    run.steps -= names.length;
    const invalidName = names.find((name) => !checkBranch(inner, name, run, undefined));
    return invalidName === undefined || fail(run, 'this property name is not allowed', invalidName);
  });
}

function createDependentRequiredCheck(dependencies: Fields): Check {
  const entries = Object.entries(dependencies).map(([name, names]) => [name, [names].flat().map(String)] as const);
  return createObjectCheck((value, run) => {
    run.steps -= entries.length;
    for (const [name, requiredNames] of entries) {
      if (!hasProperty(value, name)) continue;
      run.steps -= requiredNames.length;
      const missing = requiredNames.find((other) => !hasProperty(value, other));
      if (missing !== undefined)
        return fail(run, `required if ${JSON.stringify(name)} is present, but missing`, missing);
    }
    return true;
  });
}

const CLOSED: CompiledSchema = { check: (_value, run) => fail(run, 'this property is not allowed') };

function createPropertiesCheck({ schema, location, compile, compilePattern }: KeywordContext): Check {
  const { properties, patternProperties, additionalProperties } = schema;
  const named = new Map<string, CompiledSchema>();
  if (isJsonObject(properties)) for (const [name, node] of Object.entries(properties)) named.set(name, compile(node));
  const patterns: { readonly pattern: Pattern; readonly schema: CompiledSchema }[] = [];
  for (const [source, node] of Object.entries(isJsonObject(patternProperties) ? patternProperties : {})) {
    const pattern = compilePattern(source, `${location}/patternProperties/${escapePointer(source)}`);
    patterns.push({ pattern, schema: compile(node) });
  }
  const additional =
    additionalProperties === undefined
      ? undefined
      : additionalProperties === false
        ? CLOSED
        : compile(additionalProperties);
  return (value, run, evaluated) => {
    if (!isJsonObject(value)) return true;
    let passed = true;
    for (const key of Object.keys(value)) {
      const property = named.get(key);
      const part = value[key];
      let known = property !== undefined;
      run.steps -= 1;
      run.path.push(key);
      // Called here and not by a helper: a value can be a thousand levels deep, and each frame counts.
      let isValid = property === undefined || property.check(part, run, undefined);
      for (const entry of patterns) {
        if (!entry.pattern.test(key, run)) continue;
        known = true;
        isValid = entry.schema.check(part, run, undefined) && isValid;
      }
      if (!known && additional !== undefined) isValid = additional.check(part, run, undefined);
      run.path.pop();
      if (known || additional !== undefined) evaluated?.keys.add(key);
      if (isValid) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    return passed;
  };
}

function createUnevaluatedPropertiesCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    if (!isJsonObject(value)) return true;
    const { keys } = evaluated ?? createEvaluated();
    const others = Object.keys(value).filter((key) => !keys.has(key));
    return checkAll(others, run, (key) => {
      keys.add(key);
      return run.steps >= 0 && checkPart(inner, value[key], run, key);
    });
  };
}

function createUnevaluatedItemsCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const covered = evaluated ?? createEvaluated();
    const others = [...value.keys()].filter((index) => index >= covered.items && !covered.contained.has(index));
    const passed = checkAll(others, run, (index) => run.steps >= 0 && checkPart(inner, value[index], run, index));
    if (passed || !isSettled(run)) covered.items = value.length;
    return passed;
  };
}

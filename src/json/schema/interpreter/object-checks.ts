import { isJsonObject } from '../json-schema.js';
import type { Pattern } from '../patterns/pattern.js';
import { escapePointer } from '../read-schema.js';
import { fail, isSettled, createEvaluated, passes } from './check.js';
import type { Check, CheckRun, CompiledSchema, KeywordContext } from './check.js';

/**
 * The keywords for objects. `unevaluatedProperties` comes last, because it depends on what all others have evaluated.
 */
export function createObjectChecks(context: KeywordContext): Check[] {
  const { schema, compile } = context;
  const checks: Check[] = [];
  if (Array.isArray(schema['required'])) checks.push(createRequiredCheck(schema['required'].map(String)));
  const minProperties = schema['minProperties'];
  const maxProperties = schema['maxProperties'];
  if (typeof minProperties === 'number') {
    checks.push(
      createObjectCheck(
        (value, run) =>
          countProperties(value, run) >= minProperties ||
          fail(run, `must have at least ${minProperties} propert${minProperties === 1 ? 'y' : 'ies'}`),
      ),
    );
  }
  if (typeof maxProperties === 'number') {
    checks.push(
      createObjectCheck(
        (value, run) =>
          countProperties(value, run) <= maxProperties ||
          fail(run, `must have at most ${maxProperties} propert${maxProperties === 1 ? 'y' : 'ies'}`),
      ),
    );
  }
  if ('propertyNames' in schema) checks.push(createNamesCheck(compile(schema['propertyNames'])));
  if (isJsonObject(schema['dependentRequired'])) checks.push(createDependentRequiredCheck(schema['dependentRequired']));
  if (isJsonObject(schema['dependentSchemas']))
    checks.push(...createDependentSchemaChecks(context, schema['dependentSchemas']));
  if (['properties', 'patternProperties', 'additionalProperties'].some((keyword) => keyword in schema)) {
    checks.push(createPropertiesCheck(context));
  }
  return 'unevaluatedProperties' in schema
    ? [...checks, createUnevaluatedCheck(compile(schema['unevaluatedProperties']))]
    : checks;
}

function createObjectCheck(check: (value: Readonly<Record<string, unknown>>, run: CheckRun) => boolean): Check {
  return (value, run) => !isJsonObject(value) || check(value, run);
}

function countProperties(value: Readonly<Record<string, unknown>>, run: CheckRun): number {
  const count = Object.keys(value).length;
  run.steps -= count;
  return count;
}

function createRequiredCheck(names: readonly string[]): Check {
  return createObjectCheck((value, run) => {
    let passed = true;
    run.steps -= names.length;
    for (const name of names) {
      if (hasProperty(value, name)) continue;
      passed = fail(run, 'required, but missing', name);
      if (isSettled(run)) return false;
    }
    return passed;
  });
}

function hasProperty(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

function createNamesCheck(inner: CompiledSchema): Check {
  return createObjectCheck((value, run) => {
    const names = Object.keys(value);
    run.steps -= names.length;
    const invalidName = names.find((name) => !passes(inner, name, run));
    return invalidName === undefined || fail(run, 'this property name is not allowed', invalidName);
  });
}

function createDependentRequiredCheck(dependencies: Readonly<Record<string, unknown>>): Check {
  const entries = Object.entries(dependencies).map(
    ([name, requiredNames]) => [name, Array.isArray(requiredNames) ? requiredNames.map(String) : []] as const,
  );
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

function createDependentSchemaChecks(
  { compile }: KeywordContext,
  dependencies: Readonly<Record<string, unknown>>,
): Check[] {
  return Object.entries(dependencies).map(([name, schema]): Check => {
    const inner = compile(schema);
    return (value, run, evaluated) =>
      !isJsonObject(value) || !hasProperty(value, name) || inner.check(value, run, evaluated);
  });
}

function createPropertiesCheck({ schema, location, compile, compilePattern }: KeywordContext): Check {
  const named = new Map<string, CompiledSchema>();
  if (isJsonObject(schema['properties'])) {
    for (const [name, node] of Object.entries(schema['properties'])) named.set(name, compile(node));
  }
  const patterns: { readonly pattern: Pattern; readonly schema: CompiledSchema }[] = [];
  if (isJsonObject(schema['patternProperties'])) {
    for (const [source, node] of Object.entries(schema['patternProperties'])) {
      const pattern = compilePattern(source, `${location}/patternProperties/${escapePointer(source)}`);
      patterns.push({ pattern, schema: compile(node) });
    }
  }
  const additional = compileAdditional(schema['additionalProperties'], compile);
  return (value, run, evaluated) => {
    if (!isJsonObject(value)) return true;
    let passed = true;
    for (const key of Object.keys(value)) {
      const property = named.get(key);
      const inner = value[key];
      let known = property !== undefined;
      run.steps -= 1;
      run.path.push(key);
      let isValid = property === undefined || property.check(inner, run, undefined);
      for (const entry of patterns) {
        if (!entry.pattern.test(key, run)) continue;
        known = true;
        isValid = entry.schema.check(inner, run, undefined) && isValid;
      }
      if (!known && additional !== undefined) isValid = additional.check(inner, run, undefined);
      run.path.pop();
      if (known || additional !== undefined) evaluated?.keys.add(key);
      if (isValid) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    return passed;
  };
}

const CLOSED: CompiledSchema = { check: (_value, run) => fail(run, 'this property is not allowed') };

function compileAdditional(schema: unknown, compile: KeywordContext['compile']): CompiledSchema | undefined {
  if (schema === undefined) return undefined;
  return schema === false ? CLOSED : compile(schema);
}

function createUnevaluatedCheck(inner: CompiledSchema): Check {
  return (value, run, evaluated) => {
    if (!isJsonObject(value)) return true;
    const covered = evaluated ?? createEvaluated();
    let passed = true;
    for (const key of Object.keys(value)) {
      if (covered.keys.has(key)) continue;
      covered.keys.add(key);
      run.steps -= 1;
      if (run.steps < 0) return false;
      run.path.push(key);
      const isValid = inner.check(value[key], run, undefined);
      run.path.pop();
      if (isValid) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    return passed;
  };
}

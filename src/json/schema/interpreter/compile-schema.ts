import { createSchemaError, isJsonObject } from '../json-schema.js';
import type { SchemaNode, SchemaObject } from '../json-schema.js';
import type { PatternCompiler } from '../patterns/pattern.js';
import { KEYWORD_SHAPES } from '../schema-keywords.js';
import { listChildSchemas } from '../schema-references.js';
import type { LocatedSchema, SchemaDocument } from '../schema-references.js';
import { addEvaluated, fail, isSettled, createEvaluated } from './check.js';
import type { Check, CompiledSchema, KeywordContext } from './check.js';
import { createLogicChecks } from './logic-checks.js';
import { createPartChecks } from './part-checks.js';
import { createLimitChecks, createStringChecks, createValueChecks } from './scalar-checks.js';

/** Returns the compiled form of any schema of the document. */
export type SchemaChecks = (node: SchemaNode) => CompiledSchema;

const ANYTHING: CompiledSchema = { check: () => true };
const NOTHING: CompiledSchema = { check: (_value, run) => fail(run, 'no value is allowed here') };

/**
 * Compiles a document to functions without generating code. Throws for references without a target, circular references and
 * invalid patterns.
 */
export function compileSchema(document: SchemaDocument, compilePattern: PatternCompiler): SchemaChecks {
  rejectEndlessReferences(document);
  const compiled = new Map<SchemaObject, CompiledSchema>();
  const targets = new Map<SchemaObject, SchemaNode>();
  const pending: LocatedSchema[] = [document.root];
  const done = new Set<SchemaObject>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) compilePending(next);
  return compile;

  function compilePending({ node, location }: LocatedSchema): void {
    if (typeof node === 'boolean' || done.has(node)) return;
    done.add(node);
    const context: KeywordContext = {
      schema: node,
      location,
      compile,
      compilePattern,
      follow: (reference) => {
        const target = document.resolve(reference, node, location);
        pending.push(target);
        return compile(target.node);
      },
    };
    for (const child of listChildSchemas(node, location)) pending.push(child);
    const check = joinChecks(context);
    if (isBareReference(node)) return;
    compile(node).check =
      'unevaluatedProperties' in node || 'unevaluatedItems' in node ? recordEvaluated(check) : check;
  }

  function compile(node: unknown): CompiledSchema {
    if (!isJsonObject(node)) return node === false ? NOTHING : ANYTHING;
    const target = skipBareReferences(node);
    if (!isJsonObject(target)) return target ? ANYTHING : NOTHING;
    const known = compiled.get(target);
    if (known !== undefined) return known;
    const empty: CompiledSchema = { check: ANYTHING.check };
    compiled.set(target, empty);
    return empty;
  }

  /** Replaces a schema that is only a `$ref` with its target; a chain of references is followed once. */
  function skipBareReferences(node: SchemaObject): SchemaNode {
    const visited: SchemaObject[] = [];
    let target: SchemaNode = node;
    while (isJsonObject(target) && isBareReference(target)) {
      const known = targets.get(target);
      visited.push(target);
      target = known ?? document.resolve(String(target['$ref']), target, '#').node;
    }
    for (const step of visited) targets.set(step, target);
    return target;
  }
}

function isBareReference(node: SchemaObject): boolean {
  return '$ref' in node && !Object.keys(node).some(restrictsTarget);
}

/** Keywords that do not restrict values, and the reference itself. */
const NEUTRAL = /^(?:\$ref|\$defs|definitions|\$id|\$anchor|\$dynamicAnchor)$/;

/** Whether a keyword beside `$ref` restricts values further. */
function restrictsTarget(keyword: string): boolean {
  return KEYWORD_SHAPES.has(keyword) && !NEUTRAL.test(keyword);
}

/**
 * Combines the checks of all keywords. Their order determines the order of the issues: type, then the value itself,
 * then its contents.
 */
function joinChecks(context: KeywordContext): Check {
  const keywords: Check[] = [
    ...createValueChecks(context.schema),
    ...createLimitChecks(context.schema),
    ...createStringChecks(context),
    ...createLogicChecks(context),
    ...createPartChecks(context),
  ];
  const [only] = keywords;
  if (only === undefined) return ANYTHING.check;
  if (keywords.length === 1) return only;
  return (value, run, evaluated) => {
    run.steps -= keywords.length;
    if (run.steps < 0) return false;
    let passed = true;
    for (let index = 0; index < keywords.length; index += 1) {
      if (keywords[index]?.(value, run, evaluated) === true) continue;
      passed = false;
      if (isSettled(run)) return false;
    }
    return passed;
  };
}

/** Makes `unevaluated…` ignore what other schemas have evaluated in the same value: only its own schema object counts. */
function recordEvaluated(check: Check): Check {
  return (value, run, evaluated) => {
    const covered = createEvaluated();
    const passed = check(value, run, covered);
    if (evaluated !== undefined) addEvaluated(evaluated, covered, run);
    return passed;
  };
}

/** Keywords whose schemas are applied to the value itself, not to something inside it. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);

/** Rejects a schema that refers to itself for the same value, such as `{ "$ref": "#" }`. */
function rejectEndlessReferences(document: SchemaDocument): void {
  const states = new Map<SchemaNode, 'open' | 'done'>();
  const waiting: LocatedSchema[] = [document.root];
  const seen = new Set<SchemaNode>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.node === 'boolean' || seen.has(next.node)) continue;
    seen.add(next.node);
    visit(next);
    for (const further of listChildSchemas(next.node, next.location)) waiting.push(further);
    for (const further of listReferences(next)) waiting.push(further);
  }

  /** Depth first with an explicit stack: a chain of references can be longer than the call stack. */
  function visit(start: LocatedSchema): void {
    const stack = [start];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const state = states.get(top.node);
      if (state !== undefined) {
        // Everything it applies to the same value was visited, now or before.
        states.set(top.node, 'done');
        stack.pop();
        continue;
      }
      states.set(top.node, 'open');
      for (const target of [...listReferences(top), ...listInPlaceSchemas(top)]) {
        if (typeof target.node === 'boolean') continue;
        if (states.get(target.node) === 'open')
          throw createSchemaError(target.location, 'this schema refers to itself without descending into the value');
        stack.push(target);
      }
    }
  }

  function listReferences({ node, location }: LocatedSchema): LocatedSchema[] {
    if (typeof node === 'boolean') return [];
    return ['$ref', '$dynamicRef'].flatMap((keyword) => {
      const reference = node[keyword];
      return typeof reference === 'string' ? [document.resolve(reference, node, location)] : [];
    });
  }
}

function listInPlaceSchemas({ node, location }: LocatedSchema): LocatedSchema[] {
  const entries = Object.entries(node).filter(([keyword]) => IN_PLACE.has(keyword));
  return listChildSchemas(Object.fromEntries(entries), location);
}

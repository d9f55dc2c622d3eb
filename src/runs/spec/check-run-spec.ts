import { isArtifactPath } from '../../run-folder/index.js';
import { fromJsonSchema, interpretJsonSchema, isJsonObject } from '../../json-schema/index.js';
import { SluiceError, isSluiceError } from '../../base/index.js';
import type { SchemaIssue, StandardSchema } from '../../json/index.js';
import { isStandardSchema, toJsonSchema } from './contract-schema.js';
import { runSpecSchema } from '../../records/index.js';
import type { RunContract, RunSpec } from '../../records/index.js';

/**
 * What was asked for cannot be run: every objection with its place.
 *
 * @example
 * if (error instanceof RunSpecError) for (const { path, message } of error.issues) console.error(path, message)
 */
export class RunSpecError extends SluiceError<'INVALID_RUN_SPEC'> {
  override readonly name = 'RunSpecError';
  readonly issues: readonly SchemaIssue[];

  constructor(issues: readonly SchemaIssue[]) {
    const told = issues.slice(0, 10).map(({ path, message }) => `${path.join('.') || 'the spec'}: ${message}`);
    super('INVALID_RUN_SPEC', `This cannot be run: ${told.join('; ')}.`);
    this.issues = issues;
  }
}

/** A spec that can be run, and its schema ready to validate. */
export interface CheckedSpec {
  readonly spec: RunSpec;
  readonly schema: StandardSchema | undefined;
}

/** Looks whether a spec can be run; throws {@link RunSpecError} if not. */
export function checkRunSpec(given: unknown): CheckedSpec {
  const { told, schema } = separateSchema(given);
  const issues = [...shapeIssues(told)];
  if (issues.length > 0) throw new RunSpecError(issues);
  const spec = given as RunSpec;
  issues.push(...meaningIssues(spec));
  const compiled = compileContract(schema, spec.contract, issues);
  if (issues.length > 0) throw new RunSpecError(issues);
  return { spec, schema: compiled };
}

/** The spec without what only exists in process, and without keys that hold nothing. */
function separateSchema(given: unknown): { readonly told: unknown; readonly schema: unknown } {
  if (!isJsonObject(given)) return { told: given, schema: undefined };
  const told = withoutHoles(given);
  if (isJsonObject(told['limits'])) told['limits'] = withoutHoles(told['limits']);
  if (!isJsonObject(told['contract'])) return { told, schema: undefined };
  const { schema, normalizers: _, ...contract } = told['contract'];
  told['contract'] = withoutHoles(contract);
  return { told, schema };
}

function withoutHoles(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

let specValidator: StandardSchema | undefined;

function shapeIssues(told: unknown): readonly SchemaIssue[] {
  specValidator ??= interpretJsonSchema(runSpecSchema);
  const result = specValidator['~standard'].validate(told);
  if (result instanceof Promise || result.issues === undefined) return [];
  return result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => (typeof step === 'number' ? step : String(typeof step === 'object' ? step.key : step))),
  }));
}

function meaningIssues(spec: RunSpec): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  const object = (path: string, message: string): number => issues.push({ path: [path], message });
  if (spec.engine === 'command') {
    if (spec.command === undefined) object('command', 'engine `command` needs the program and its arguments');
    else if (spec.command[0] === '') object('command', 'the program has no name');
  } else {
    if (spec.command !== undefined) object('command', `only engine \`command\` takes one, not ${spec.engine}`);
    if ((spec.prompt ?? '').trim() === '') object('prompt', `${spec.engine} needs something to do`);
  }
  const isCached = spec.cache !== undefined && spec.cache !== false;
  if (isCached && spec.input_files === undefined) {
    object('input_files', 'caching needs the files the answer depends on; give an empty list if there are none');
  }
  for (const [index, path] of (spec.input_files ?? []).entries()) {
    if (!isArtifactPath(path)) {
      issues.push({ path: ['input_files', index], message: 'must be a path inside of the working folder' });
    }
  }
  const { normalizers = [], schema } = spec.contract ?? {};
  if (!isListOfFunctions(normalizers)) {
    issues.push({ path: ['contract', 'normalizers'], message: 'must be a list of functions' });
    return issues;
  }
  const isCode = normalizers.length > 0 || (isStandardSchema(schema) && toJsonSchema(schema) === undefined);
  if (isCached && isCode) {
    object('cache', 'cannot tell one function from another; use a JSON Schema without normalizers, or no cache');
  }
  return issues;
}

function isListOfFunctions(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'function');
}

/** A JSON Schema may come from a stranger: no code is made from it, and what it may cost is bounded. */
function compileContract(
  schema: unknown,
  contract: RunContract | undefined,
  issues: SchemaIssue[],
): StandardSchema | undefined {
  const object = (message: string): undefined => {
    issues.push({ path: ['contract', 'schema'], message });
  };
  if (schema === undefined) return undefined;
  if (isStandardSchema(schema)) {
    if (contract?.align !== true || '~sluice' in schema) return schema;
    return object('cannot align; make it with `fromJsonSchema` or wrap it with `alignable`');
  }
  if (!isJsonObject(schema)) return object('must be a JSON Schema or a Standard Schema');
  try {
    return fromJsonSchema(schema, { trusted: false });
  } catch (error) {
    if (isSluiceError(error)) return object(error.message);
    throw error;
  }
}

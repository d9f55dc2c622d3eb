import { cutText } from '../../base/index.js';
import type { Profile, ParseError } from '../../json/index.js';
import { toJsonSchema, type ContractSchema } from './contract-schema.js';
import type { RunContract, RunSpec } from '../../store/records/index.js';
import { isJsonObject, getOwnValue } from '../../json/schema/index.js';

/** The parts of a contract that the agent receives. */
interface ContractTerms extends Pick<RunContract, 'schema' | 'profile' | 'thinking'> {
  readonly mode: 'auto' | 'interactive';
}

/**
 * Renders the instructions that follow the prompt and make the agent's answer parseable: the tags, the JSON Schema, and
 * the done marker. They start with a blank line.
 *
 * @example
 * const prompt = `${task}${renderContract({ schema, profile: 'tagged', mode: 'auto' })}`
 */
export function renderContract({ schema, profile = 'default', thinking, mode }: ContractTerms): string {
  const jsonSchema = toJsonSchema(schema);
  const isObject = canBeObject(jsonSchema, profile);
  const sentences = [
    writeTurnRule(mode),
    ...writeFormRules(profile, isObject, thinking),
    ...writeMarkerRules(profile, isObject, declaresDoneMarker(jsonSchema)),
    ...(jsonSchema === undefined ? [] : [writeSchemaRule(jsonSchema)]),
  ];
  // The search for the done marker ignores the content of these tags: an agent that repeats its instructions has not
  // finished.
  return `\n\n<skill_content name="output-contract">\n${sentences.join('\n')}\n</skill_content>\n`;
}

function writeTurnRule(mode: ContractTerms['mode']): string {
  switch (mode) {
    case 'auto':
      return 'Nobody can answer questions during this task: decide yourself, do the work, and end with its result.';
    case 'interactive':
      return (
        'If you cannot continue without an answer, ask one question in plain words and stop: it will be answered. ' +
        'Write the result described below only when the work is finished.'
      );
  }
}

function writeFormRules(profile: Profile, isObject: boolean, thinking = true): string[] {
  const value = isObject ? 'one JSON object' : 'one JSON value';
  switch (profile) {
    case 'default':
    case 'tagged':
      return [
        ...(thinking
          ? ['In your last message, first write your reasoning between the tags <thinking> and </thinking>.']
          : []),
        `Write the result as ${value} between the tags <json> and </json>, at the very end of your last message.`,
        'Write the tags once. Between <json> and </json>, write only strict JSON: double quotes, no comments, no Markdown, nothing left out.',
      ];
    case 'generic':
    case 'unified':
      return [
        `Your last message is the result and nothing else: ${value}, without any words or Markdown around it.`,
        'It is strict JSON: double quotes, no comments, nothing left out.',
      ];
  }
}

/** The marker is described in words, because as JSON it would be detected as the marker itself. */
function writeMarkerRules(profile: Profile, isObject: boolean, isDeclared: boolean): string[] {
  const member = `the member "${DONE_MARKER}" with the value true`;
  if (isObject) {
    const removalNote = isDeclared ? '' : ' It is removed before the result is validated.';
    return [`Add to the object ${member}; it says that the work is finished.${removalNote}`];
  }
  if (profile === 'generic' || profile === 'unified') return [];
  return [`After the closing tag write a line with a JSON object that has only ${member}.`];
}

function writeSchemaRule(jsonSchema: Readonly<Record<string, unknown>>): string {
  // Tags in a description would be parsed as tags.
  const text = JSON.stringify(jsonSchema, null, 2).replaceAll('<', '\\u003c');
  return `The result must be valid against this JSON Schema (draft 2020-12):\n${text}`;
}

/** Whether the result can be an object, and so contain the marker; assumed if the schema has no type. */
function canBeObject(jsonSchema: Readonly<Record<string, unknown>> | undefined, profile: Profile): boolean {
  const type = jsonSchema?.['type'];
  if (profile === 'unified' || type === undefined) return true;
  return Array.isArray(type) ? type.includes('object') : type === 'object';
}

/**
 * Renders the first prompt of a run: the task, then the contract. An agent that may ask questions needs the done
 * marker, with or without a contract. Engine `command` gets its input unchanged.
 */
export function renderFirstPrompt(spec: RunSpec): string {
  return `${spec.prompt ?? ''}${renderTerms(spec)}`;
}

/** The maximum length of an error message in a prompt; more would not help the agent. */
const MAX_ERROR_LENGTH = 2000;

/** Renders a retry's prompt: the problem, then the contract again. A new session also gets the task again. */
export function renderRetry(spec: RunSpec, error: ParseError, isResumed: boolean): string {
  const message = `[${error.code}] ${error.message}`;
  const summary = message.length > MAX_ERROR_LENGTH ? `${cutText(message, MAX_ERROR_LENGTH)}…` : message;
  const { schema, profile = 'default', thinking } = spec.contract ?? {};
  const contract = renderTerms(spec);
  const form = contract === '' ? writeFormRules(profile, canBeObject(toJsonSchema(schema), profile), thinking) : [];
  const lines = [
    'Your previous output did not meet the output contract.',
    `Error: ${summary}`,
    'Answer again with a corrected result, in the form described here.',
    ...form,
  ];
  return `${lines.join('\n')}\n\n${isResumed ? contract.trim() : renderFirstPrompt(spec)}`;
}

function renderTerms({ engine, contract, mode = 'auto' }: RunSpec): string {
  if (engine === 'command' || (contract === undefined && mode === 'auto')) return '';
  return renderContract({ ...contract, mode });
}

/** The result property an agent sets to report that it has finished. */
const DONE_MARKER = '__SKILL_DONE__';

/** The marker used by old agents. */
const OLD_MARKER = '__skill_done__';

/** Deeper schemas are not searched. */
const MAX_DEPTH = 16;

/** Limits the search, against schemas crafted to be slow. */
const MAX_SCHEMAS = 1000;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Strips the marker from the top of a value, unless the schema declares it as a property. Applied before the value is
 * validated.
 */
export function stripDoneMarker(value: unknown, schema?: ContractSchema): unknown {
  if (!isJsonObject(value) || !(Object.hasOwn(value, DONE_MARKER) || Object.hasOwn(value, OLD_MARKER))) return value;
  if (declaresDoneMarker(toJsonSchema(schema))) return value;
  const { [DONE_MARKER]: _marker, [OLD_MARKER]: _oldMarker, ...rest } = value;
  return rest;
}

/** Whether a JSON Schema declares the marker as a top-level property. */
function declaresDoneMarker(root: JsonObject | undefined): boolean {
  if (root === undefined) return false;
  let seen = 0;
  const declares = (node: unknown, depth: number): boolean => {
    seen += 1;
    if (!isJsonObject(node) || depth > MAX_DEPTH || seen > MAX_SCHEMAS) return false;
    const properties = getOwnValue(node, 'properties');
    const required = getOwnValue(node, 'required');
    if (isJsonObject(properties) && Object.hasOwn(properties, DONE_MARKER)) return true;
    if (Array.isArray(required) && required.includes(DONE_MARKER)) return true;
    return listSubschemas(node, root).some((part) => declares(part, depth + 1));
  };
  return declares(root, 0);
}

function listSubschemas(node: JsonObject, root: JsonObject): unknown[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => {
    const list = getOwnValue(node, keyword);
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  const singles = ['if', 'then', 'else'].map((keyword) => getOwnValue(node, keyword));
  return [...lists, ...singles, resolveReference(node, root)];
}

function resolveReference(node: JsonObject, root: JsonObject): unknown {
  const reference = getOwnValue(node, '$ref');
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  let target: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    target = isJsonObject(target) ? getOwnValue(target, key) : undefined;
  }
  return target;
}

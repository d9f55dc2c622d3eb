import { parse } from '../../json/index.js';
import { isFields, readResultFields } from './result-fields.js';

// What pre-fills a form need not be long, and what is stored must not be deep.
const DRAFT_LENGTH = 256 * 1024;
const DRAFT_DEPTH = 64;
const LIST_LENGTH = 100;

/**
 * What can be made of a text that is no proper result, for a person to complete; undefined if nothing can. It is
 * repaired, so it decides nothing.
 */
export function draftFromText(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parse(text.slice(0, DRAFT_LENGTH), undefined, {
    allowPartial: true,
    limits: { depth: DRAFT_DEPTH, candidates: 16 },
  });
  return parsed.ok && isFields(parsed.value) ? draftFromFields(Object.entries(parsed.value)) : undefined;
}

/** The known fields of an object, as far as they are texts, lists of texts or objects of texts. */
export function draftFromFields(
  entries: Iterable<readonly [string, unknown]>,
): Readonly<Record<string, unknown>> | undefined {
  const { known } = readResultFields(entries);
  const drafted = [...known].flatMap(([name, value]) => {
    const shallow = shallowOf(value, name);
    return shallow === undefined ? [] : [[name, shallow] as const];
  });
  return drafted.length === 0 ? undefined : Object.fromEntries(drafted);
}

function shallowOf(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').slice(0, LIST_LENGTH);
  if (!isFields(value)) return undefined;
  const names = name === 'tests' ? ['command', 'result', 'evidence'] : ['pr', 'commit'];
  const { known } = readResultFields(Object.entries(value), names);
  return Object.fromEntries([...known].filter(([, entry]) => typeof entry === 'string'));
}

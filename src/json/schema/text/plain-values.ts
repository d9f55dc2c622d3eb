import { parse } from '../../index.js';
import { choose, chooseBySpelling, indexChoices } from './choices.js';
import type { Placement } from './choices.js';
import { foldCase } from './spelling.js';

const BOOLEAN_WORDS = indexChoices([
  {
    value: true,
    names: ['true', 'yes', 'y', 'on', '1', '是', '真', '✓', '✔', '✅', 'ja', 'oui', 'sí', 'sim', 'да', 'はい'],
  },
  {
    value: false,
    names: ['false', 'no', 'n', 'off', '0', '否', '假', '✗', '✘', '❌', 'nein', 'non', 'não', 'нет', 'いいえ'],
  },
]);
/** In a sentence only complete words count: `on` and `1` mean something else there. */
const SENTENCE_WORDS = indexChoices([
  { value: true, names: ['true', 'yes', 'ja', 'oui', 'sí', 'sim', 'да', 'はい'] },
  { value: false, names: ['false', 'no', 'nein', 'non', 'não', 'нет', 'いいえ'] },
]);
const PLACEMENT: Placement = { separators: /^\s*["'*`]*\s*[,.:;!(（–—|\n、。，]|^\s+-\s/, isStrict: true };

/** Reads a word or short sentence that means yes or no: `"True"`, `"Yes, it does."`, `"The answer is false"`. */
export function readBoolean(value: unknown): boolean | undefined {
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string') return undefined;
  const word = chooseBySpelling(value, BOOLEAN_WORDS);
  if (word !== undefined) return word !== 'several' && word.value === true;
  const chosen = choose(value, SENTENCE_WORDS, PLACEMENT);
  return chosen === undefined ? undefined : chosen.value === true;
}

const NULL_WORD =
  /^(?:null|none|nil|n\/a|na|nan|undefined|not applicable|not available|keine angabe|k\.a|non? disponible|--?|[—–]|无|暂无|不适用)?$/;

/** Whether a string means "no value". `unknown` does not: it is an answer. */
export function isNullText(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string' || value.length > 20) return false;
  const word = foldCase(value).trim();
  return NULL_WORD.test(word.replaceAll(/^[<("'[]+|[>)"'\].]+$/g, ''));
}

/** Maximum length of a string that is parsed as JSON again. */
const MAX_JSON_LENGTH = 1_000_000;
const FINDERS = new Set(['whole', 'fence']);

/** Reads a string that consists of one object or list, fenced or not; undefined if it contains anything else. */
export function readJsonText(text: string): unknown {
  if (text.length > MAX_JSON_LENGTH || !/^\s*(?:[[{]|```[^]*```\s*$)/.test(text)) return undefined;
  const result = parse(text);
  return result.ok && FINDERS.has(result.candidate.finder) ? result.value : undefined;
}

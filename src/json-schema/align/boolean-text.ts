import { indexChoices } from './choice-index.js';
import { choose, chooseBySpelling } from './choice-text.js';
import type { Placement } from './choice-text.js';

const WORDS = indexChoices([
  { value: true, names: ['true', 'yes', 'y', 'on', '1', '是', '真'] },
  { value: false, names: ['false', 'no', 'n', 'off', '0', '否', '假'] },
]);
/** In a sentence only full words count: `on` and `1` stand there for something else. */
const SPOKEN = indexChoices([
  { value: true, names: ['true', 'yes'] },
  { value: false, names: ['false', 'no'] },
]);
const PLACEMENT: Placement = { separators: /^\s*["'*`]*\s*[,.:;!(（–—|\n]|^\s+-\s/, isStrict: true };

/** Reads a word or short sentence that says yes or no: `"True"`, `"Yes, it does."`, `"The answer is false"`. */
export function readBoolean(value: unknown): boolean | undefined {
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string') return undefined;
  const word = chooseBySpelling(value, WORDS);
  if (word !== undefined) return word !== 'several' && word.value === true;
  const chosen = choose(value, SPOKEN, PLACEMENT);
  return chosen === undefined ? undefined : chosen.value === true;
}

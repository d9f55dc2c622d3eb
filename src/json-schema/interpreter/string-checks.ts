import { FORMATS } from '../formats.js';
import { fail } from './check.js';
import type { Check } from './check.js';
import type { KeywordContext } from './compile-schema.js';

/** `minLength`, `maxLength`, `pattern`, `format`. Lengths count characters as people do, not UTF-16 units. */
export function stringChecks({ schema, location, compilePattern }: KeywordContext): Check[] {
  const checks: Check[] = [];
  const minLength = schema['minLength'];
  const maxLength = schema['maxLength'];
  const pattern = schema['pattern'];
  const format = schema['format'];
  if (typeof minLength === 'number') {
    checks.push(
      (value, run) =>
        typeof value !== 'string' ||
        (value.length >= minLength && countCharacters(value) >= minLength) ||
        fail(run, `must have at least ${minLength} characters`),
    );
  }
  if (typeof maxLength === 'number') {
    checks.push(
      (value, run) =>
        typeof value !== 'string' ||
        value.length <= maxLength ||
        countCharacters(value) <= maxLength ||
        fail(run, `must have at most ${maxLength} characters`),
    );
  }
  if (typeof pattern === 'string') {
    const compiled = compilePattern(pattern, `${location}/pattern`);
    const message = `must match the pattern ${pattern.slice(0, 200)}`;
    checks.push((value, run) => typeof value !== 'string' || compiled.test(value, run) || fail(run, message));
  }
  const test = typeof format === 'string' ? FORMATS.get(format) : undefined;
  if (test !== undefined) {
    const message = `must be a valid ${String(format)}`;
    checks.push((value, run) => typeof value !== 'string' || test(value) || fail(run, message));
  }
  return checks;
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const isHigh = (text.charCodeAt(index) & 0xfc00) === 0xd800;
    if (isHigh && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

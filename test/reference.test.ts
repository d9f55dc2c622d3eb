import { describe, expect, it } from 'vitest';
import { findUndocumented } from '../scripts/reference/find-undocumented.js';

const FUNCTION = 64;
const INTERFACE = 256;
const comment = { summary: [{ kind: 'text', text: 'Adds.' }] };
const example = { ...comment, blockTags: [{ tag: '@example', content: [] }] };
const entry = (...children: readonly object[]) => ({ children: [{ name: 'json', children }] });

describe('npm run reference', () => {
  it('accepts a comment, and for functions an example', () => {
    const add = { name: 'add', kind: FUNCTION, signatures: [{ comment: example }] };
    expect(findUndocumented(entry(add, { name: 'Sum', kind: INTERFACE, comment: comment }))).toEqual([]);
  });

  it('finds names without a comment, and functions without an example', () => {
    const names = entry(
      { name: 'bare', kind: FUNCTION, signatures: [{}] },
      { name: 'described', kind: FUNCTION, signatures: [{ comment: comment }] },
      { name: 'Empty', kind: INTERFACE, comment: { summary: [] } },
    );
    expect(findUndocumented(names)).toEqual([
      'json: bare has no doc comment',
      'json: described has no example',
      'json: Empty has no doc comment',
    ]);
  });

  it('fails when there is nothing to check', () => {
    expect(findUndocumented({ children: [] })).toEqual(['typedoc found no entry']);
  });
});

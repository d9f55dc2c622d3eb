import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCaller, createTokenCheck } from './tokens.js';

const ada = { name: 'ada', scopes: ['read', 'decide'], value: 'correct horse' } as const;
const bob = { name: 'bob', scopes: ['read'], value: 'battery staple' } as const;

describe('tokens', () => {
  const find = createTokenCheck([ada, bob]);

  it('are found by their complete value', () => {
    expect(find('correct horse')).toBe(ada);
    expect(find('battery staple')).toBe(bob);
  });

  it('are not found by anything else', () => {
    fc.assert(
      fc.property(fc.string(), (sent) => {
        fc.pre(sent !== ada.value && sent !== bob.value);
        expect(find(sent)).toBeUndefined();
      }),
    );
    for (const similar of ['', 'correct hors', 'correct horse ', 'Correct horse'])
      expect(find(similar)).toBeUndefined();
  });

  it('grant their scopes and nothing more', () => {
    expect(toCaller(ada)).toEqual({ name: 'ada', scopes: new Set(['none', 'read', 'decide']) });
  });
});

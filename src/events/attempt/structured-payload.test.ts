import { describe, expect, it } from 'vitest';
import { readStructuredPayload } from './messages.js';

describe('the payload of a message', () => {
  it.each([
    ['the whole text', ' {"ok":true}\n', { ok: true }],
    ['a fenced block', 'Done.\n```json\n{"ok":true}\n```\n', { ok: true }],
    ['a fenced block without a name', 'Done.\n```\n[1, 2]\n```', [1, 2]],
    ['a fenced block on one line', 'Done: ```json {"ok":true}``` (see above)', { ok: true }],
    ['a tagged block', 'See <json>{"ok":true}</json> above.', { ok: true }],
  ])('is %s', (_, text, payload) => {
    expect(readStructuredPayload(text)).toEqual(payload);
  });

  it.each([
    ['plain text', 'All done.'],
    ['a brace in prose', 'Use {"ok":true} if you like.'],
    ['code', '```js\nconst a = { b: 1 };\n```'],
    ['torn JSON', '{"ok":tr'],
    ['a bare value', '"ok"'],
  ])('is undefined in %s', (_, text) => {
    expect(readStructuredPayload(text)).toBeUndefined();
  });

  it('is not extracted from very long messages', () => {
    expect(readStructuredPayload(`{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { decodeReply, encodeReply } from './run-record.js';

describe('decodeReply', () => {
  it.each(['yes', '', '\u{1F44D}', { interaction_id: 'px_1_1', option_id: 'allow', why: 'Fine.', who: 'ada' }])(
    'returns the encoded reply: %j',
    (reply) => {
      expect(decodeReply(encodeReply(reply))).toEqual(reply);
    },
  );

  it('never returns a choice for a text reply', () => {
    const forged = encodeReply({ interaction_id: 'px_1_1', option_id: 'allow', who: 'ada' });
    expect(decodeReply(encodeReply(forged))).toBe(forged.slice(1));
    expect(decodeReply(encodeReply('\u0001'.repeat(1_000_000)))).toBe('');
  });
});

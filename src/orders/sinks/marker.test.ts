import { expect, it } from 'vitest';
import { makeMessage } from './fixtures/message.js';
import { formatMarker, withMarker } from './sink.js';

it('is the last line, and invisible in rendered Markdown', () => {
  const message = makeMessage({ body: 'Done.\n\n' });
  expect(withMarker(message)).toBe(`Done.\n\n${formatMarker(message)}`);
  expect(formatMarker(message)).toBe('<!-- sluice:workrun:2026-11-15-backend-0001 01KA3XAMPLE000000000000001 -->');
});

it('occurs once, even if the text already contains it', () => {
  const message = makeMessage();
  const text = withMarker({ ...message, body: `before ${formatMarker(message)} after` });
  expect(text.split(formatMarker(message))).toHaveLength(2);
});

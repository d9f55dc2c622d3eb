import { expect, test } from 'vitest';
import { joinStates } from './follow-protocol.js';

test('the worst of the streams is what counts', () => {
  expect(joinStates([{ state: 'live' }, { state: 'reconnecting' }])).toEqual({ state: 'reconnecting' });
  expect(joinStates([{ state: 'ended' }, { state: 'live' }])).toEqual({ state: 'live' });
  expect(joinStates([{ state: 'ended' }, { state: 'ended' }])).toEqual({ state: 'ended' });
  expect(joinStates([])).toEqual({ state: 'opening' });
});

import { t } from './texts.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from './examples.js';
import { isProfile } from '../../ui/parts.js';
import { readOptions, toQuery } from './workbench-state.js';

const options = fc.record({
  profile: fc.constantFrom(...Object.keys(t.profiles).filter(isProfile)),
  allowPartial: fc.boolean(),
  align: fc.boolean(),
  ambiguous: fc.constantFrom('first' as const, 'last' as const, null),
});

it('options are read back unchanged from the address', () => {
  fc.assert(
    fc.property(options, (chosen) => {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(toQuery(chosen))) if (value !== null) query.set(name, value);
      expect(readOptions(query)).toEqual(chosen);
    }),
  );
});

it('invalid values in the query are replaced by the defaults', () => {
  expect(readOptions(new URLSearchParams('profile=toString&partial=maybe&ambiguous=all'))).toEqual(DEFAULT_OPTIONS);
});

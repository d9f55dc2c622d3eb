import type { Masker } from './masker.js';
import { createHeldBytes } from './held-bytes.js';
import type { WordFinder } from './word-finder.js';

/** Hides every word of the finder, overlapping ones too. */
export function createWordMasker(finder: WordFinder): Masker {
  const held = createHeldBytes();
  let state = 0;
  let position = 0;
  return {
    push(bytes) {
      held.add(bytes);
      const { length } = bytes;
      for (let at = 0; at < length; at += 1) {
        if (state === 0) {
          at = finder.skip(bytes, at);
          if (at === length) break;
        }
        state = finder.step(state, bytes[at] ?? 0);
        const found = finder.found(state);
        if (found > 0) held.hide(position + at + 1 - found, position + at + 1);
      }
      position += length;
      return held.release(position - finder.pending(state));
    },
    end: () => held.release(position),
  };
}

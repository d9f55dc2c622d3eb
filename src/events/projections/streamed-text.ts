/** What a whole text adds to the pieces of it that were streamed before. */
export interface Remainder {
  /** What is still to be told; empty where the pieces told it all. */
  readonly rest: string;
  /** The whole text does not begin with the pieces, so they cannot be completed, only corrected. */
  readonly diverged: boolean;
}

/**
 * Remembers the texts that are being streamed, so that the whole text that follows is not told twice. It holds the
 * text of open messages only.
 *
 * @example
 * const texts = createStreamedTexts()
 * texts.append('m_1_1', 'Hel')
 * texts.finish('m_1_1', 'Hello') // { rest: 'lo', diverged: false }
 */
export function createStreamedTexts(): StreamedTexts {
  const open = new Map<string, string>();
  return {
    append(id, piece) {
      open.set(id, (open.get(id) ?? '') + piece);
    },
    finish(id, whole) {
      const streamed = open.get(id) ?? '';
      open.delete(id);
      if (whole.startsWith(streamed)) return { rest: whole.slice(streamed.length), diverged: false };
      // Engines trim the whole text but not its pieces.
      return { rest: '', diverged: whole.trim() !== streamed.trim() };
    },
    clear() {
      open.clear();
    },
  };
}

export interface StreamedTexts {
  append(id: string, piece: string): void;
  finish(id: string, whole: string): Remainder;
  clear(): void;
}

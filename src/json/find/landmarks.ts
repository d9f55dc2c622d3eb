/** Tags models think and answer in, with attributes; harmony's channels with their names, and its other markers. */
const LANDMARK =
  /<(\/?)(think|thinking|thought|reasoning|json)(?:\s[^<>]{0,80})?>|\[(\/?)(think)\]|<\|channel\|>\s*(\w+)[^{["]{0,99}?<\|message\|>|<\|(?:start|end|return|call)\|>/
    .source;

/** Finds every landmark. */
export const LANDMARKS = new RegExp(LANDMARK, 'gi');
/** Finds every landmark and every bracket a value may begin with. */
export const LANDMARKS_AND_BRACKETS = new RegExp(`${LANDMARK}|[[{]`, 'gi');
/** The beginning of a landmark whose rest has not arrived. */
export const CUT_LANDMARK = /<(?:[^<>]{0,99}|\|channel\|>[^{["]{0,120})$/i;

/**
 * Keeps track of where in a text an answer may stand: not in thinking, and not in harmony's analysis channel. An unclosed
 * think tag reaches to the end of the text.
 */
export class Whereabouts {
  insideTag = false;
  #thinking = '';
  #channel = '';

  get hidden(): boolean {
    return this.#thinking !== '' || this.#channel === 'analysis';
  }

  /**
   * Passes a landmark. `open` and `close` are those of a `<json>` tag; `restart` says that all before was no answer: it was
   * thinking that a lone closing tag ends, or a channel before the final one.
   */
  pass([, slash, tag, bracketSlash, bracketTag, channel]: readonly (string | undefined)[]):
    | 'open'
    | 'close'
    | 'restart'
    | undefined {
    const name = (tag ?? bracketTag)?.toLowerCase();
    if (name === undefined) {
      this.#channel = channel ?? '';
      return channel === 'final' ? 'restart' : undefined;
    }
    const closes = (slash ?? bracketSlash) === '/';
    if (name === 'json') {
      if (this.hidden) return undefined;
      this.insideTag = !closes;
      return closes ? 'close' : 'open';
    }
    if (closes && this.#thinking === '') return 'restart';
    if (!closes) this.#thinking ||= name;
    else if (this.#thinking === name) this.#thinking = '';
    return undefined;
  }
}

import { BracketWalker } from './bracket-walker.js';

/**
 * Tags around a model's thinking and answers, with attributes; the channels of OpenAI's harmony format with their
 * names, and its other markers; the turns of chat templates with their roles. Any tag named after thinking counts; a
 * closing tag in {@link THINKING_TAG} also counts without its opening tag.
 */
export const LANDMARK =
  /[<◁](\/?)([\w:-]{0,20}(?:think|thought|reason|analysis|scratch|r[eé]fle|monolog|deliber|planning|critiq|brainstorm)[\w:-]{0,20}|cot|json)(?:\s[^<>]{0,80})?[>▷]|\[(\/?)(think)\]|<\|channel\|>\s*(\w+)[^{["]{0,99}?<\|message\|>|<\|(?:start|end|return|call)\|>|<\|?(?:im_start|start_header_id|start_of_turn)\|?>\s*(\w+)(?=\W)/
    .source;
const THINKING_TAG = /^(?:think|thinking|thought|reasoning)$/i;

/**
 * Tracks which parts of the input can contain the answer: not thinking, and not harmony's analysis channel. An unclosed
 * think tag extends to the end.
 */
export class LandmarkTracker {
  insideTag = false;
  #thinking = '';
  #channel = '';

  get hidden(): boolean {
    return this.#thinking !== '' || /^(?:analysis|user|system)$/.test(this.#channel);
  }

  /**
   * Processes a landmark. `open` and `close` refer to a `<json>` tag; `restart` means that nothing before it is the
   * answer: it was thinking that ended with a lone closing tag, or a channel before the final one.
   */
  pass([, slash, tag, bracketSlash, bracketTag, channel, role]: readonly (string | undefined)[]):
    | 'open'
    | 'close'
    | 'restart'
    | undefined {
    const name = (tag ?? bracketTag)?.toLowerCase();
    if (!name) {
      this.#channel = channel ?? role ?? '';
      return channel === 'final' ? 'restart' : undefined;
    }
    const closes = (slash ?? bracketSlash) === '/';
    if (name === 'json') {
      if (this.hidden) return undefined;
      this.insideTag = !closes;
      return closes ? 'close' : 'open';
    }
    if (closes && this.#thinking === '') return THINKING_TAG.test(name) ? 'restart' : undefined;
    if (!closes) this.#thinking ||= name;
    else if (this.#thinking === name) this.#thinking = '';
    return undefined;
  }
}

/** A part of the input, by offsets. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** The content of a `<json>` block. Without a closing tag it extends to the next block or to the end. */
export interface TagBlock extends Region {
  readonly isClosed: boolean;
  /** The last closing tag before the next block: the real end if the first closing tag is inside a string. */
  readonly lastClose: number;
}

/** The parts of the input that can contain the answer. */
export interface Survey {
  /** The input without thinking, channels other than the final one, and blank parts. */
  readonly regions: readonly Region[];
  readonly blocks: readonly TagBlock[];
}

/** A block whose end is still unknown. */
type OpenBlock = { -readonly [Field in keyof TagBlock]: TagBlock[Field] };

/**
 * Scans the input once. A tag inside a JSON string is content. `hidesThinking`: excludes the content of thinking tags.
 */
export function surveyText(text: string, hidesThinking = true): Survey {
  const regions: Region[] = [];
  const blocks: OpenBlock[] = [];
  const tracker = new LandmarkTracker();
  let walker = new BracketWalker(text);
  let start = 0;
  const endRegion = (end: number): void => {
    if (!tracker.hidden && text.slice(start, end).trim() !== '') regions.push({ start, end });
  };
  // A plain search is many times faster than the pattern on long input without any landmark.
  const hasLandmarks = ['<', '▷', 'k]', 'K]'].some((part) => text.includes(part));
  /** Start of the open thinking. */
  let hiddenFrom = 0;
  /**
   * Whether every thinking tag so far has a closing tag. After the first unclosed tag the search stops, to stay linear.
   */
  let isPaired = true;
  let isTranscript = false;
  let limit = text.length;
  for (const match of hasLandmarks ? text.matchAll(new RegExp(LANDMARK, 'gi')) : []) {
    const { index, 2: tag = '' } = match;
    const name = tag.toLowerCase();
    const isJsonTag = name === 'json';
    if (!hidesThinking && !isJsonTag) continue;
    const end = index + match[0].length;
    const last = blocks.at(-1);
    if (!tracker.hidden && walker.isInString(index)) {
      // The string might have been cut off there: the tag counts if no other tag closes the block.
      if (isJsonTag && match[1] === '/' && last?.isClosed === false) last.lastClose = Math.min(last.lastClose, index);
      continue;
    }
    if (!isJsonTag) {
      if (tag !== '' && !THINKING_TAG.test(name)) {
        // Not for tags in strings: this tag hides everything up to its closing tag, so nothing is searched twice.
        if (match[1] === '' && !tracker.hidden) isPaired &&= text.includes(`</${tag}`, index);
        if (!isPaired) continue;
      }
      endRegion(index);
      if (match[6] === 'user') {
        // After the answer, the model invented the next question.
        if (regions.length > 0 && !isTranscript) {
          start = limit = index;
          break;
        }
        isTranscript = true;
      }
    }
    if (!tracker.hidden) hiddenFrom = end;
    const event = tracker.pass(match);
    if (event === 'restart') regions.length = blocks.length = 0;
    if (event === 'open') {
      endBlock(last, index);
      blocks.push({ start: end, end: text.length, isClosed: false, lastClose: text.length });
    } else if (event === 'close' && last) {
      if (!last.isClosed) last.end = index;
      last.isClosed = true;
      last.lastClose = index;
    }
    if (!isJsonTag) start = end;
    walker = new BracketWalker(text, end);
  }
  endBlock(blocks.at(-1), limit);
  endRegion(limit);
  // Unclosed thinking does not hide an answer that is marked as such.
  if (hidesThinking && tracker.hidden && blocks.length === 0)
    return {
      regions,
      blocks: surveyText(text, false).blocks.filter((block) => block.isClosed && block.start > hiddenFrom),
    };
  return { regions, blocks };
}

/** Ends a block that is still open: at a closing tag inside a string, or at the limit. */
function endBlock(block: OpenBlock | undefined, limit: number): void {
  if (block?.isClosed !== false) return;
  block.isClosed = block.lastClose < limit;
  block.end = block.lastClose = Math.min(block.lastClose, limit);
}

import type { Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import { readJson } from '../framing/lenient-json.js';
import { textKey } from './text-key.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A frame of the terminal that waits to be compared. Its text is copied: a slice would keep its whole chunk. */
export interface WaitingFrame {
  readonly key: string;
  readonly kind: Frame['kind'];
  readonly bytes: number;
  /** The frame again. */
  wake(): Frame;
}

/** Puts a frame to sleep. */
export function waitingFrame(frame: Frame): WaitingFrame {
  const { kind, stream, from, to, encoding } = frame;
  const text = encoder.encode(frame.text);
  const problem = frame.kind === 'text' ? frame.problem : null;
  return {
    key: textKey(frame.text),
    kind,
    bytes: to - from,
    wake() {
      const span = { stream, from, to, encoding };
      const source = decoder.decode(text);
      if (kind === 'blank') return { ...span, kind, text: '' };
      if (kind === 'script') return { ...span, kind, text: source };
      const value = kind === 'json' ? readJson(source) : null;
      if (value !== null) return { ...span, kind: 'json', value, text: source } satisfies JsonFrame;
      return { ...span, kind: 'text', text: source, problem } satisfies TextFrame;
    },
  };
}

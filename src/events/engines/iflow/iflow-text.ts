import { findPayload } from '../../attempt/messages.js';
import type { TextFrame } from '../../framing/frame.js';
import { LineMessage, type MessageJudgement } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';

/** The confidence that text is the agent's message: with a JSON block, by stream, and unfinished. */
const JSON_CONFIDENCE = 0.8;
const TEXT_CONFIDENCE = { stdout: 0.6, stderr: 0.5 } as const;
const UNFINISHED_CONFIDENCE = { stdout: 0.45, stderr: 0.3 } as const;
/** For a message that is being streamed. */
const LINE_CONFIDENCE = 0.5;

/** The confidence that output on the other stream is what it looks like. */
export const DRIFT_CONFIDENCE = 0.5;

/** Limit on the text held back: if stderr has more while stdout is empty, the agent's message is on stderr. */
const MAX_HELD_BYTES = 256 * 1024;

/**
 * The plain text of an attempt. The agent's message is on stdout and the log on stderr, unless stdout is empty: then the streams
 * were swapped, and the message is on stderr.
 */
export class IflowText {
  readonly #emit: Emit;
  readonly #stdout: LineMessage;
  readonly #stderr: LineMessage;
  #heldFrames: TextFrame[] = [];
  #heldBytes = 0;
  #hasStdout = false;
  /** Whether the agent's message is on stderr. */
  #isSwapped = false;

  /** `isFinished`: whether an `<Execution Info>` block was printed, which only iFlow does, at its end. */
  constructor(emit: Emit, isFinished: () => boolean) {
    const judge = (stream: 'stdout' | 'stderr') => (text: string) => judgeText(text, stream, isFinished());
    this.#emit = emit;
    this.#stdout = new LineMessage(emit, judge('stdout'), 'stdout');
    this.#stderr = new LineMessage(emit, judge('stderr'), 'stderr');
  }

  /** Adds a line, or part of a line, that has no other meaning. */
  add(frame: TextFrame, text: string): void {
    if (frame.stream !== 'stderr') {
      if (!isBlank(text)) this.#startStdout(frame);
      this.#stdout.add(frame, text, LINE_CONFIDENCE);
    } else if (this.#isSwapped) this.#stderr.add(frame, text, LINE_CONFIDENCE);
    else if (this.#hasStdout) this.#emit({ fact: isBlank(text) ? 'hold' : 'noise' });
    else {
      this.#emit({ fact: 'hold' });
      this.#heldFrames.push({ ...frame, text });
      this.#heldBytes += frame.to - frame.from;
      if (this.#heldBytes > MAX_HELD_BYTES) this.#swap();
    }
  }

  close(stream: 'stdout' | 'stderr'): void {
    if (stream === 'stdout') this.#stdout.close();
    else this.#stderr.close();
  }

  end(): void {
    this.#stdout.close();
    if (this.#heldFrames.some(({ text }) => !isBlank(text))) this.#swap();
    this.#stderr.close();
  }

  /** Reports the held lines of stderr as a log, because stdout has output. */
  #startStdout(current: TextFrame): void {
    this.#hasStdout = true;
    const held = this.#takeHeld();
    for (const frame of held) {
      if (isBlank(frame.text)) continue;
      this.#emit({ fact: 'frame', frame });
      this.#emit({ fact: 'noise' });
    }
    if (held.length > 0) this.#emit({ fact: 'frame', frame: current });
  }

  #swap(): void {
    this.#isSwapped = true;
    for (const frame of this.#takeHeld()) this.#stderr.add(frame, frame.text, LINE_CONFIDENCE);
    this.#emit({
      fact: 'warning',
      code: 'STREAM_DRIFT_OBSERVED',
      message: 'iFlow printed its message on stderr instead of stdout.',
      subject: 'message',
      confidence: DRIFT_CONFIDENCE,
    });
  }

  #takeHeld(): readonly TextFrame[] {
    const lines = this.#heldFrames;
    this.#heldFrames = [];
    this.#heldBytes = 0;
    return lines;
  }
}

function judgeText(text: string, stream: 'stdout' | 'stderr', isFinished: boolean): MessageJudgement {
  // A fenced block, or JSON anywhere in the text, even directly after a word.
  const payload = findPayload(text);
  if (payload !== undefined) return { confidence: JSON_CONFIDENCE, payload };
  return { confidence: isFinished ? TEXT_CONFIDENCE[stream] : UNFINISHED_CONFIDENCE[stream] };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

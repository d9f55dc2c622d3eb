import { findPayload } from '../../attempt/messages.js';
import type { TextFrame } from '../../framing/frame.js';
import { LineMessage } from '../../reading/line-message.js';
import type { MessageJudgement } from '../../reading/line-message.js';
import type { Report } from '../report.js';

/** The confidence that a text is the agent's: with a JSON block in it, or by its stream and what followed. */
const JSON_CONFIDENCE = 0.8;
const TEXT_CONFIDENCE = { stdout: 0.6, stderr: 0.5 } as const;
const UNFINISHED_CONFIDENCE = { stdout: 0.45, stderr: 0.3 } as const;
/** While a message is being written. */
const LINE_CONFIDENCE = 0.5;

/** Held at most; a stderr that says more while stdout is silent is where the agent speaks. */
const MAX_HELD_BYTES = 256 * 1024;

/**
 * The free text of an attempt. The agent speaks on stdout; what stands on stderr is a log, unless stdout stays silent:
 * then the streams were swapped, and stderr is the agent.
 */
export class IflowWords {
  readonly #report: Report;
  readonly #stdout: LineMessage;
  readonly #stderr: LineMessage;
  #held: TextFrame[] = [];
  #heldBytes = 0;
  #hasSpoken = false;
  /** Stderr turned out to be where the agent speaks. */
  #isSwapped = false;

  /** `isFinished` says whether an `<Execution Info>` block shows that this was iFlow, and that it came to its end. */
  constructor(report: Report, isFinished: () => boolean) {
    const judge = (stream: 'stdout' | 'stderr') => (text: string) => judgeText(text, stream, isFinished());
    this.#report = report;
    this.#stdout = new LineMessage(report, judge('stdout'), 'stdout');
    this.#stderr = new LineMessage(report, judge('stderr'), 'stderr');
  }

  /** A line, or a piece of one, that is nothing else. */
  add(frame: TextFrame, text: string): void {
    if (frame.stream !== 'stderr') this.#speak(frame, text);
    else if (this.#isSwapped) this.#speakSwapped(frame, text);
    else if (this.#hasSpoken) this.#log(text);
    else this.#hold(frame, text);
  }

  /** Ends the open message of a stream. */
  close(stream: 'stdout' | 'stderr'): void {
    if (stream === 'stdout') this.#stdout.close();
    else this.#stderr.close();
  }

  end(): void {
    this.#stdout.close();
    if (this.#held.some(({ text }) => !isBlank(text))) this.#swap();
    this.#stderr.close();
  }

  #speak(frame: TextFrame, text: string): void {
    if (isBlank(text)) return this.#stdout.skip(text);
    if (!this.#hasSpoken && !this.#isSwapped) this.#release(frame);
    this.#hasSpoken = true;
    this.#stdout.say(frame, text, LINE_CONFIDENCE);
  }

  #speakSwapped(frame: TextFrame, text: string): void {
    if (isBlank(text)) this.#stderr.skip(text);
    else this.#stderr.say(frame, text, LINE_CONFIDENCE);
  }

  #log(text: string): void {
    if (isBlank(text)) this.#report.hold();
    else this.#report.noise();
  }

  #hold(frame: TextFrame, text: string): void {
    this.#report.hold();
    this.#held.push({ ...frame, text });
    this.#heldBytes += frame.to - frame.from;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#swap();
  }

  /** Stdout has output, so stderr so far is the log. */
  #release(current: TextFrame): void {
    if (this.#held.length === 0) return;
    for (const frame of this.#takeHeld()) {
      if (isBlank(frame.text)) continue;
      this.#report.about(frame);
      this.#report.noise();
    }
    this.#report.about(current);
  }

  #swap(): void {
    this.#isSwapped = true;
    for (const frame of this.#takeHeld()) this.#speakSwapped(frame, frame.text);
    this.#report.warning('STREAM_DRIFT_OBSERVED', 'The agent’s words came on stderr; iFlow prints them on stdout.', {
      subject: 'message',
    });
  }

  #takeHeld(): readonly TextFrame[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }
}

function judgeText(text: string, stream: 'stdout' | 'stderr', isFinished: boolean): MessageJudgement {
  // The second layer: a fenced block, or one between braces, also glued to the text before it.
  const payload = findPayload(text);
  if (payload !== undefined) return { confidence: JSON_CONFIDENCE, payload };
  return { confidence: isFinished ? TEXT_CONFIDENCE[stream] : UNFINISHED_CONFIDENCE[stream] };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

import type { Engine, Reader } from '../engines/engine.js';
import type { BlankFrame, Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { FrameEvents } from './frame-events.js';
import { ReportWriter } from './report-writer.js';

/** Reads the frames of one attempt with its engine. */
export class Attempt {
  readonly #frames: FrameEvents;
  readonly #reader: Reader;
  /** What the reader has said of the frames. */
  readonly report: ReportWriter;

  constructor(engine: Engine, writer: EventWriter) {
    this.#frames = new FrameEvents(writer);
    this.report = new ReportWriter(writer, this.#frames);
    this.#reader = engine.createReader(this.report);
  }

  get drift(): FrameEvents['drift'] {
    return this.#frames.drift;
  }

  read(frame: JsonFrame | TextFrame): void {
    this.#frames.open(frame);
    if (frame.kind === 'json') this.#reader.json(frame);
    else this.#reader.text(frame);
    this.#frames.close(frame);
  }

  /** A blank line: no event, but readers that put text together again want it. */
  readBlank(frame: BlankFrame): void {
    this.#reader.blank?.(frame);
  }

  /** A frame that is no business of the engine: kept as raw, without a warning. */
  setAside(frame: Frame): void {
    this.#frames.open(frame);
    this.#frames.noise();
  }

  /** All frames were read. */
  endReading(): void {
    this.#reader.end();
    this.report.messages.closeAll();
    this.#frames.leave();
    this.report.tools.endAll();
  }
}

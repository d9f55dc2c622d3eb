import type { Engine, ProcessExit, Reader } from '../engines/engine.js';
import type { BlankFrame, Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import type { EventWriter } from '../mapping/event-writer.js';
import { Reducer } from './reducer.js';

export class AttemptReader {
  readonly #reader: Reader;
  readonly reducer: Reducer;

  constructor(engine: Engine, writer: EventWriter) {
    this.reducer = new Reducer(engine, writer);
    this.#reader = engine.createReader((fact) => this.reducer.add(fact));
  }

  read(frame: JsonFrame | TextFrame): void {
    this.reducer.openFrame(frame);
    if (frame.kind === 'json') this.#reader.json(frame);
    else this.#reader.text(frame);
    this.reducer.closeFrame(frame);
  }

  /** Passes a blank line to the reader. It is not an event, but readers that join lines need it. */
  readBlank(frame: BlankFrame): void {
    this.#reader.blank?.(frame);
  }

  /** Emits a frame that is not the engine's output as raw, without a warning. */
  setAside(frame: Frame): void {
    this.reducer.openFrame(frame);
    this.reducer.add({ fact: 'noise' });
  }

  /** Called after the last frame. */
  end(exit: ProcessExit): void {
    this.#reader.end(exit);
    this.reducer.end();
  }
}

import type { Engine } from '../engines/engine.js';

/** From here on a value is another program's. */
const SURE = 0.9;

/** Values looked at; by then a program has shown what it is. */
const MAX_VALUES = 200;

/** Notices output that comes from another program than it is said to come from. */
export class EngineMismatch {
  readonly #engine: Engine;
  readonly #engines: readonly Engine[];
  #other: Engine | null = null;
  #left = MAX_VALUES;

  constructor(engine: Engine, engines: readonly Engine[]) {
    this.#engine = engine;
    this.#engines = engines;
  }

  /** The engine that prints what this one does not; null once a single value was its own. */
  get other(): Engine | null {
    return this.#other;
  }

  look(value: object): void {
    if (this.#left === 0) return;
    if (this.#engine.detect(value) > 0) {
      this.#left = 0;
      this.#other = null;
      return;
    }
    this.#left -= 1;
    this.#other ??= this.#engines.find((engine) => engine.detect(value) >= SURE) ?? null;
  }
}

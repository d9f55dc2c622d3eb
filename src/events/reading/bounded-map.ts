/** A map that drops its oldest entry when it grows beyond its limit: a malicious agent could add entries endlessly. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;
  /** Continues after the entries dropped so far: a new iterator would skip them one by one each time. */
  readonly #oldest: Iterator<Key, undefined>;

  constructor(limit: number) {
    super();
    this.#limit = limit;
    this.#oldest = this.keys();
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    const oldest = this.size > this.#limit ? this.#oldest.next() : NOTHING;
    if (oldest.done !== true) this.delete(oldest.value);
    return this;
  }
}

/** A set that drops its oldest member when it grows beyond its limit. */
export class BoundedSet<Member> extends Set<Member> {
  readonly #limit: number;
  readonly #oldest: Iterator<Member, undefined>;

  constructor(limit: number) {
    super();
    this.#limit = limit;
    this.#oldest = this.values();
  }

  override add(member: Member): this {
    super.add(member);
    const oldest = this.size > this.#limit ? this.#oldest.next() : NOTHING;
    if (oldest.done !== true) this.delete(oldest.value);
    return this;
  }
}

const NOTHING = { done: true } as const;

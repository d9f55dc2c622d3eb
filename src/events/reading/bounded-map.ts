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

  /** Removes an entry and returns its value. */
  take(key: Key): Value | undefined {
    const value = this.get(key);
    this.delete(key);
    return value;
  }
}

/** A set that drops its oldest member when it grows beyond its limit. */
export class BoundedSet<Member> extends BoundedMap<Member, true> {
  add(member: Member): void {
    this.set(member, true);
  }
}

const NOTHING = { done: true } as const;

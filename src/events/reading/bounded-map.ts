/** A map that drops its oldest entry when it grows beyond its limit: a malicious agent could add entries endlessly. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (oldest !== undefined && this.size > this.#limit) this.delete(oldest);
    return this;
  }
}

/** A set that drops its oldest member when it grows beyond its limit. */
export class BoundedSet<Member> extends Set<Member> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override add(member: Member): this {
    super.add(member);
    const [oldest] = this;
    if (oldest !== undefined && this.size > this.#limit) this.delete(oldest);
    return this;
  }
}

/** A scalar value. */
export type Leaf = string | number | boolean | null;

/** An event as a list of leaves. Two events with the same shape differ only in their leaves. */
export interface FlatEvent {
  /** The keys of all objects, in order. */
  readonly shape: string;
  readonly leaves: readonly Leaf[];
}

const MAX_LEAVES = 48;
const MAX_TEXT_LENGTH = 128;
const MAX_DEPTH = 5;

/** Returns the leaves of a small event; null if it is too large or contains a value that a series cannot represent. */
export function flatten(event: object): FlatEvent | null {
  const flat: FlatBuilder = { shape: '', leaves: [] };
  return addMembers(flat, event, 0) ? flat : null;
}

interface FlatBuilder {
  shape: string;
  readonly leaves: Leaf[];
}

function addMembers(flat: FlatBuilder, value: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  const isArray = Array.isArray(value);
  flat.shape += isArray ? '[' : '{';
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key);
    // JSON omits undefined members.
    if (member === undefined && !isArray) continue;
    // Assigning to this key would change the object's prototype.
    if (key === '__proto__') return false;
    // The length makes the boundaries between keys unambiguous.
    if (!isArray) flat.shape += `${key.length}.${key}`;
    if (typeof member === 'object' && member !== null) {
      if (!addMembers(flat, member, depth + 1)) return false;
    } else if (isSmallLeaf(member)) {
      flat.leaves.push(member);
      flat.shape += ',';
      if (flat.leaves.length > MAX_LEAVES) return false;
    } else return false;
  }
  flat.shape += isArray ? ']' : '}';
  return true;
}

function isSmallLeaf(value: unknown): value is Leaf {
  if (typeof value === 'string') return value.length <= MAX_TEXT_LENGTH;
  return typeof value === 'boolean' || value === null || Number.isFinite(value);
}

/** Returns the paths of the leaves of an event, in the order of {@link flatten}. */
export function listPaths(value: object, prefix: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  return Object.keys(value).flatMap((key) => {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) return [];
    const path = [...prefix, Array.isArray(value) ? Number(key) : key];
    return typeof member === 'object' && member !== null ? listPaths(member, path) : [path];
  });
}

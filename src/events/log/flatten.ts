/** A scalar value. */
export type Leaf = string | number | boolean | null;

/** An event as a list of leaves. Two events of the same shape differ in leaves only. */
export interface FlatEvent {
  /** The keys of all objects, in order. */
  readonly shape: string;
  readonly leaves: readonly Leaf[];
}

const MAX_LEAVES = 48;
const MAX_TEXT_LENGTH = 128;
const DEEPEST = 5;

/** The leaves of a small event; null if it is large, or holds what a series cannot. */
export function flatten(event: object): FlatEvent | null {
  const flat: Building = { shape: '', leaves: [] };
  return addMembers(flat, event, 0) ? flat : null;
}

interface Building {
  shape: string;
  readonly leaves: Leaf[];
}

function addMembers(flat: Building, value: object, depth: number): boolean {
  if (depth > DEEPEST) return false;
  const isArray = Array.isArray(value);
  flat.shape += isArray ? '[' : '{';
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key);
    // JSON leaves it out.
    if (member === undefined && !isArray) continue;
    // Assigning to it would change what an object is.
    if (key === '__proto__') return false;
    // With its length, so that one key cannot be mistaken for two.
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

/** The paths of the leaves of an event, in the order in which {@link flatten} lists them. */
export function listPaths(value: object, above: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  return Object.keys(value).flatMap((key) => {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) return [];
    const path = [...above, Array.isArray(value) ? Number(key) : key];
    return typeof member === 'object' && member !== null ? listPaths(member, path) : [path];
  });
}

/**
 * The address of a database without user and password; what cannot be read is not shown at all.
 *
 * @example
 * describeDatabase('postgres://ada:secret@db.example.org/sluice') // 'postgres://db.example.org/sluice'
 */
export function describeDatabase(address: string): string {
  if (!address.startsWith('postgres')) return address;
  try {
    const { host, pathname } = new URL(address);
    return `postgres://${host}${pathname}`;
  } catch {
    return 'postgres://…';
  }
}

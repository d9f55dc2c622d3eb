/** How long something waits, so coarse that it does not flicker: `< 1 min`, `17 min`, `5 h`, `3 d`. */
export function waitOf(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return '< 1 min';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
